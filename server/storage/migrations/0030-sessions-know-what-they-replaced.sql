-- A session that replaced another one of its browser keeps that one's token hash as former_token_hash, so that a sign-out or a
-- sign-in that the browser sent before it learned of the new token ends it (docs/decisions/0028). Unlike the former token of a
-- session that only got a new one, it may have been somebody else's: the provider's proof is not for whoever holds it.
alter table session add column replaces boolean not null default false;
