-- outside a transaction
-- The last sign-ins of one account, for its account page.
create index concurrently if not exists audit_event_of_user on audit_event (user_id, id desc) where user_id is not null;

-- new transaction
-- What a person has proven again in a session, before they change something about their way in (docs/decisions/0051), and
-- when. It belongs to the session: it ends with it, and goes on with its next token.
alter table session
  add column if not exists fresh_proof text,
  add column if not exists fresh_proof_at timestamptz;
-- What the list of a person's sessions says of each: the browser, as it named itself at the sign-in. Of those from before it
-- is not known.
alter table session add column if not exists browser text;
-- Nobody needs to read that there is none to drop.
set local client_min_messages = warning;
-- Not valid yet: nobody could pass while every row is looked at.
alter table session
  drop constraint if exists session_fresh_proof,
  drop constraint if exists session_fresh_proof_whole,
  drop constraint if exists session_browser_check,
  add constraint session_fresh_proof check (fresh_proof in ('password', 'code')) not valid,
  add constraint session_fresh_proof_whole check ((fresh_proof is null) = (fresh_proof_at is null)) not valid,
  add constraint session_browser_check check (char_length(browser) <= 100) not valid;
-- new transaction
alter table session
  validate constraint session_fresh_proof,
  validate constraint session_fresh_proof_whole,
  validate constraint session_browser_check;
