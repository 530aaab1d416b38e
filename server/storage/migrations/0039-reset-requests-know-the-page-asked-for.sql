-- Where the person who asked for a link wanted to go (docs/decisions/0013): the link leads there after the next sign-in,
-- in another browser too.
alter table reset_request
  add column destination text check (char_length(destination) <= 2048);
