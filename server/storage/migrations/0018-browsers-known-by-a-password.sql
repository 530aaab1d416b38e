-- Only a browser in which the user's password was typed has guesses of its own; one that came by a provider is known for
-- the mail of new browsers alone. Of those before nobody can tell: of users whom a provider signs in none is taken for it.
alter table device add column by_password boolean not null default true;
update device set by_password = false where user_id in (select user_id from sso_subject);
alter table device alter column by_password set default false;
