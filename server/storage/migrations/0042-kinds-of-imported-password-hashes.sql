-- Verifying an imported password hash takes another time than one of ours. Unknown names are answered as if they had
-- such hashes too, as many of them as there are users (docs/decisions/0041): a hash of each kind that no password has,
-- and up to which share of the names it is used.
create table password_decoy (
  place integer primary key,
  decoy text not null,
  until_share double precision not null
);

-- Those that are not ours: few, and none once everyone has signed in.
create index portal_user_imported_hash on portal_user (id)
  where password_hash is not null and password_hash not like '$argon2id$v=19$m=19456,t=2,p=1$%';
