-- Cancelling a registration, even with two presses, keeps the name on the form.
alter table signed_out_session add column must_register boolean not null default false;
