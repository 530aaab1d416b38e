-- What a sign-in has proven besides its first factor. Setting up an app counts for the whole account, so the session has to be
-- worth it (docs/decisions/0019). Older sessions count as having proven nothing: signing in again is enough.
alter table session add column proven text not null default 'none' check (proven in ('none', 'remembered', 'code'));
