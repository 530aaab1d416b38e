import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type DatabaseForTest, databaseForTest } from '#test/support/database-for-test.ts';
import { connect } from './connect.ts';
import type { Place } from './database.ts';
import { migrate } from './migrate.ts';

// docs/operating.md, "Change secrets": the instances move to a second role one by one, so that none is ever refused.
const role = `role_${randomBytes(4).toString('hex')}`;
const password = randomBytes(16).toString('hex');
let database: DatabaseForTest;
let owner: string;
beforeAll(async () => {
  database = await databaseForTest();
  const [row] = await database.sql<{ owner: string; name: string }[]>`
    select current_user as owner, current_database() as name`;
  owner = row?.owner ?? '';
  const page = await readFile(new URL('../../docs/operating.md', import.meta.url), 'utf8');
  const [, statements = ''] = /```sql\n(create role vestibule_b [^`]+)```/.exec(page) ?? [];
  expect(statements).not.toBe('');
  await database.sql.unsafe(
    statements
      .replaceAll('vestibule_b', role)
      .replace("'…'", `'${password}'`)
      .replace('in role vestibule;', `in role ${owner};`)
      .replace('in database vestibule ', `in database ${row?.name} `)
      .replace('set role = vestibule;', `set role = ${owner};`),
  );
});
afterAll(async () => {
  await database.sql.unsafe(`drop owned by ${role}; drop role ${role}`);
  await database.close();
});

/** The test server as the second role. */
function placeOfRole(): Place {
  const { place } = database;
  if (!('url' in place)) return { ...place, user: role, password };
  const url = new URL(place.url);
  Object.assign(url, { username: role, password });
  return { url: url.href };
}

it('a second role reads, writes and migrates what the first one owns', async () => {
  const sql = connect(placeOfRole());
  try {
    expect(await migrate(sql)).toEqual([]);
    const [row] = await sql<{ session: string; current: string }[]>`
      select session_user as session, current_user as current`;
    expect(row).toEqual({ session: role, current: owner });
    await sql`update hub_receiver set audience = audience`;
    await sql`alter table hub_receiver add column added text`;
    await sql`alter table hub_receiver drop column added`;
  } finally {
    await sql.end();
  }
});
