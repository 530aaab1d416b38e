-- Somebody waits for these before they can go on, so they are sent before all others (server/storage/mail.ts has the same list).
create index mail_by_turn on mail ((kind in ('signInCode', 'resetLink', 'singleSignOnHint', 'passkeyHint')) desc, send_after, id);
drop index mail_send_after;
