import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { type DatabaseForTest, databaseForTest } from '#test/support/database-for-test.ts';
import { type PgbouncerForTest, pgbouncerForTest } from '#test/support/pgbouncer-for-test.ts';
import { cookiesOf, portalForTest, testPassword } from '#test/support/portal-for-test.ts';
import { connect } from './connect.ts';
import { type Connection, RollBack } from './database.ts';
import { migrate } from './migrate.ts';

let database: DatabaseForTest;
let pooler: PgbouncerForTest;
beforeAll(async () => {
  database = await databaseForTest();
  pooler = await pgbouncerForTest(database);
}, 120_000);
afterAll(async () => {
  await pooler.close();
  await database.close();
});

const texts = ['', `it's`, 'a "quoted" one', 'back\\slash', '{a,b}', 'NULL', '$1', '日本 🙂', 'line\nbreak'];
const some = <T>(of: readonly T[]): T => of[randomInt(of.length)] as T;
const someBytes = (): Buffer => randomBytes(some([0, 1, 32, 5000]));

function someValues() {
  return {
    id: randomUUID(),
    bytes: randomInt(100) === 0 ? randomBytes(200_000) : someBytes(),
    more: [someBytes(), someBytes()],
    words: Array.from({ length: randomInt(4) }, () => some(texts)),
    document: { text: some(texts), list: [some(texts), null, 1.5, { deep: true }] },
    at: some([new Date(Date.UTC(2026, randomInt(12), 1, 0, 0, 0, randomInt(1000))), null]),
    big: some([0, -1, Number.MAX_SAFE_INTEGER, randomInt(2 ** 40)]),
    yes: some([true, false, null]),
    nothing: null,
  };
}
type Values = ReturnType<typeof someValues>;

async function insert(sql: Connection, v: Values): Promise<Values | undefined> {
  const rows = await sql<Values[]>`
    insert into kept (id, bytes, more, words, document, at, big, yes, nothing)
    values (${v.id}, ${v.bytes}, ${v.more}, ${v.words}, ${JSON.stringify(v.document)}, ${v.at}, ${v.big}, ${v.yes}, ${v.nothing})
    returning *`;
  return rows[0];
}

async function change(sql: Connection, { id, bytes, document }: Values): Promise<void> {
  await sql`update kept set bytes = ${bytes}, document = ${JSON.stringify(document)} where id = ${id}`;
}

async function find(sql: Connection, id: string): Promise<Values | undefined> {
  return (await sql<Values[]>`select * from kept where id = ${id}`)[0];
}

test('behind PgBouncer in transaction mode every byte is right, under load', { timeout: 300_000 }, async () => {
  const { sql } = pooler;
  await database.sql`
    create table kept (id uuid primary key, bytes bytea, more bytea[], words text[], document jsonb, at timestamptz,
      big bigint, yes boolean, nothing text)`;
  const kept: Values[] = [];
  async function operate(): Promise<void> {
    const values = someValues();
    const kind = randomInt(4);
    if (kind === 0) {
      expect(await insert(sql, values)).toEqual(values);
      kept.push(values);
    } else if (kind === 1) {
      const changed = { ...values, bytes: someBytes(), document: { ...values.document, text: some(texts) } };
      const together = await sql.begin(async (sql) => {
        await insert(sql, values);
        return await Promise.all([find(sql, values.id), change(sql, changed), find(sql, values.id)]);
      });
      expect([together[0], together[2]]).toEqual([values, changed]);
      kept.push(changed);
    } else if (kind === 2) {
      const refused = await sql.begin(async (sql) => {
        await insert(sql, values);
        return new RollBack(await find(sql, values.id));
      });
      expect(refused).toEqual(values);
    } else {
      const one = kept[randomInt(Math.max(1, kept.length))];
      if (one) expect(await find(sql, one.id)).toEqual(one);
    }
  }
  const lanes = Array.from({ length: 20 }, async () => {
    for (let n = 0; n < 150; n += 1) await operate();
  });
  await Promise.all(lanes);
  // As PostgreSQL itself has it.
  const stored = await database.sql<Values[]>`select * from kept order by id`;
  expect(stored).toEqual(kept.toSorted((a, b) => (a.id < b.id ? -1 : 1)));
  expect(kept.length).toBeGreaterThan(500);
  const [prepared] = await sql`select count(*) as count from pg_prepared_statements`;
  expect(prepared?.count).toBe(0);
});

test('a whole portal works behind it: several migrate at once, and people sign in', { timeout: 120_000 }, async () => {
  await database.sql.unsafe('drop schema public cascade; create schema public');
  const others = Array.from({ length: 3 }, () => connect({ url: pooler.url }));
  const applied = (await Promise.all(others.map((other) => migrate(other)))).flat();
  expect(new Set(applied).size).toBe(applied.length);
  expect(applied).toContain('0001-initial.sql');
  await Promise.all(others.map((other) => other.end()));
  const portal = await portalForTest({}, { database }, { sql: pooler.sql });
  await addCustomer(portal, 'acme');
  const names = Array.from({ length: 20 }, (_, index) => `user-${index}`);
  for (const username of names) await addUser(portal, { username });
  const signedIn = async (username: string) => {
    const cookies = cookiesOf(await portal.signIn(username, testPassword));
    const answer = await portal.send({ url: '/portal/session', cookies });
    return [answer.statusCode, answer.json().username];
  };
  expect(await Promise.all(names.map(signedIn))).toEqual(names.map((name) => [200, name]));
  await portal.close();
});

test('one that refuses our settings says which', { timeout: 60_000 }, async () => {
  const strict = await pgbouncerForTest(database, {});
  await expect(strict.sql`select 1`).rejects.toThrow('unsupported startup parameter');
  await strict.close();
});
