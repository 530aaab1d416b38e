-- By which factor a browser is remembered: it spares no stronger one. Of those before it counts as the weaker, which is also
-- what an instance of before writes.
alter table remembered_device add column factor text not null default 'email' check (factor in ('app', 'email'));
-- Registering an app forgets the devices of before, and it is always asked for from then on; a sign-in that waited for a code
-- by e-mail at that moment is over within ten minutes.
update remembered_device d set factor = 'app' from totp
where totp.user_id = d.user_id and d.made_at > totp.confirmed_at + interval '10 minutes';
