import { afterAll, beforeAll, expect, it } from 'vitest';
import { type DatabaseForTest, databaseForTest } from '#test/support/database-for-test.ts';
import { deleteOldPasskeyChallenges } from '../factors/passkey-ceremony.ts';
import { deletedAtOnce } from './delete-in-parts.ts';
import { migrate } from './migrate.ts';

const now = new Date('2026-03-01T10:00:00Z');

let database: DatabaseForTest;
beforeAll(async () => {
  database = await databaseForTest();
  await migrate(database.sql);
});
afterAll(() => database.close());

it('deletes more than one statement may, and nothing else', async () => {
  const { sql } = database;
  const old = deletedAtOnce * 2 + 1;
  await sql`
    insert into passkey_challenge (challenge_hash, owner_hash, ends_at)
    select sha256(n::text::bytea), sha256('owner'), ${now}::timestamptz + (n - ${old}::int) * interval '1 ms'
    from generate_series(1, ${old + 5}::int) n`;
  const [locked] = await sql<{ hash: Buffer }[]>`
    select challenge_hash as hash from passkey_challenge order by ends_at limit 1`;
  await sql.begin(async (other) => {
    await other`select from passkey_challenge where challenge_hash = ${locked?.hash as Buffer} for update`;
    expect(await deleteOldPasskeyChallenges(sql, now)).toBe(old - 1);
  });
  expect(await deleteOldPasskeyChallenges(sql, now)).toBe(1);
  expect(await sql`select from passkey_challenge`).toHaveLength(5);
});
