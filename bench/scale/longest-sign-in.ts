import { randomBytes } from 'node:crypto';
import { connect } from '#server/storage/connect.ts';
import type { Database, Place } from '#server/storage/database.ts';

/** Does some work while one person after the other signs in; returns how long the slowest of them waited, in milliseconds. */
export async function longestSignIn(place: Place, work: () => Promise<unknown>): Promise<number> {
  const sql = connect(place, { poolSize: 1, statementTimeout: 0 });
  await signIn(sql, 0);
  let isDone = false;
  let slowest = 0;
  const people = (async () => {
    for (let turn = 1; !isDone; turn += 1) {
      const started = performance.now();
      await signIn(sql, turn);
      slowest = Math.max(slowest, performance.now() - started);
    }
  })();
  try {
    await work();
  } finally {
    isDone = true;
    await people;
    await sql.end();
  }
  return slowest;
}

/** What a sign-in, a check of an older session, and a sign-out do to the large tables in every version. */
async function signIn(sql: Database, turn: number): Promise<void> {
  const token = randomBytes(32);
  await sql.begin(async (sql) => {
    const [user] = await sql<{ id: string; customer: string }[]>`
      select u.id, m.customer_id as customer
      from login_name join portal_user u on u.id = user_id join membership m on m.user_id = u.id
      where fold = 'user-' || ${turn % 1000}::int for update of u`;
    if (!user) throw new Error('no such user');
    await sql`
      insert into session (token_hash, user_id, stage, customer_ids, address, created_at, last_seen_at, ends_at)
      values (${token}, ${user.id}, 'full', ${[user.customer]}, '127.0.0.1', now(), now(), now() + interval '12 hours')`;
    await sql`insert into audit_event (at, event, user_id) values (now(), 'signed-in', ${user.id})`;
  });
  await sql`
    update session set last_seen_at = now()
    where token_hash = sha256(convert_to(lpad((${turn % 1000}::int)::text, 43, 's'), 'utf8'))`;
  await sql`delete from session where token_hash = ${token}`;
}
