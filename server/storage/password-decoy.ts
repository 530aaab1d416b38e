import type { Connection } from './database.ts';

/** A kind of imported hashes: one of them, and how many users have one with the same algorithm, parameters and length of key. */
export type HashKind = { kind: string; sample: string; users: number };

/** The kinds of password hashes that are not ours, in a fixed order, and how many users have a password. */
export async function listImportedHashKinds(sql: Connection): Promise<{ kinds: HashKind[]; withPassword: number }> {
  // The condition is that of the index, word for word. Salt and key are the last two parts, or bcrypt's last 53 letters.
  // PBKDF2 works longer for a longer key.
  const kinds = await sql<HashKind[]>`
    select kind, min(password_hash) as sample, count(*) as users
    from (
      select password_hash, case
        when password_hash ~ '^(\\$sha256-hex)?\\$2' then left(password_hash, -53)
        else regexp_replace(password_hash, '\\$[^$]*\\$[^$]*$', '')
          || ' ' || length(substring(password_hash from '[^$]*$')) end as kind
      from portal_user
      where password_hash is not null and password_hash not like '$argon2id$v=19$m=19456,t=2,p=1$%'
    ) as imported
    group by kind order by kind`;
  if (kinds.length === 0) return { kinds: [], withPassword: 0 };
  const [row] = await sql<{ count: number }[]>`select count(*) from portal_user where password_hash is not null`;
  return { kinds, withPassword: row?.count ?? 0 };
}

/** Replaces the decoys; `untilShare` rises from one to the next, up to 1 at most. */
export async function replacePasswordDecoys(
  sql: Connection,
  decoys: readonly { decoy: string; untilShare: number }[],
): Promise<void> {
  // Two replacements at once would insert the same places.
  await sql`lock table password_decoy in share row exclusive mode`;
  await sql`delete from password_decoy`;
  if (decoys.length === 0) return;
  await sql`
    insert into password_decoy (place, decoy, until_share)
    select place, decoy, until_share
    from unnest(${decoys.map(({ decoy }) => decoy)}::text[], ${decoys.map(({ untilShare }) => untilShare)}::float8[])
      with ordinality as d (decoy, until_share, place)`;
}

/** Whether there are decoys, so that nothing is written where nothing was imported. */
export async function hasPasswordDecoys(sql: Connection): Promise<boolean> {
  return (await sql`select from password_decoy limit 1`).length > 0;
}
