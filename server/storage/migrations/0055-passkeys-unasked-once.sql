-- Whether a page of the session has begun the passkey that the browser makes by itself (docs/decisions/0056): none begins another.
alter table session add column passkey_begun boolean not null default false;
