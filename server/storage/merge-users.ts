import type { Connection } from './database.ts';

export type UserToMerge = { id: string; username: string; email: string; active: boolean };

/** The users with these ids, locked in one order until the transaction ends, so that two merges cannot deadlock. */
export async function lockUsersById(sql: Connection, ids: readonly string[]): Promise<UserToMerge[]> {
  return await sql<UserToMerge[]>`
    select id, username, email, active from portal_user where id = any(${ids as string[]}::uuid[])
    order by id for no key update`;
}

/** Gives one user the customers of another as well; returns the keys of the new ones. */
export async function moveMemberships(sql: Connection, from: string, into: string): Promise<string[]> {
  const rows = await sql<{ key: string }[]>`
    with moved as (
      insert into membership (user_id, customer_id)
      select ${into}, customer_id from membership where user_id = ${from}
      on conflict do nothing returning customer_id
    )
    select c.key from moved join customer c on c.id = moved.customer_id order by c.key`;
  return rows.map(({ key }) => key);
}

/**
 * Links the subjects of one user to another. Those of connections through which the other has one already stay behind.
 * Returns the keys of the connections.
 */
export async function moveSubjects(
  sql: Connection,
  from: string,
  into: string,
): Promise<{ moved: string[]; left: string[] }> {
  const moved = await sql<{ key: string }[]>`
    update sso_subject s set user_id = ${into} from sso_connection c
    where s.user_id = ${from} and c.id = s.connection_id
      and not exists (select from sso_subject own where own.user_id = ${into} and own.connection_id = s.connection_id)
    returning c.key`;
  const left = await sql<{ key: string }[]>`
    select c.key from sso_subject s join sso_connection c on c.id = s.connection_id where s.user_id = ${from}`;
  const keys = (rows: { key: string }[]) => rows.map(({ key }) => key).sort();
  return { moved: keys(moved), left: keys(left) };
}

/** Makes the browsers that one user signed in from known for another; returns how many are new. */
export async function moveDevices(sql: Connection, from: string, into: string): Promise<number> {
  const { count } = await sql`
    insert into device (token_hash, user_id, last_used_at, by_password, is_shared)
    select token_hash, ${into}, last_used_at, by_password, is_shared from device where user_id = ${from}
    on conflict do nothing`;
  return count;
}
