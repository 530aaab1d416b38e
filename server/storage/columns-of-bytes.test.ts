import { randomBytes } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { seal } from '#server/secrets/sealed.ts';
import { type DatabaseForTest, databaseForTest } from '#testing/database-for-test.ts';
import type { Database } from './database.ts';

let database: DatabaseForTest;
let sql: Database;
beforeEach(async () => {
  database = await databaseForTest();
  sql = database.sql;
  return () => database.close();
});

test('every byte column has a validated length check, or refers to one that has', async () => {
  const columns = await sql<{ name: string; checked: boolean; whole: boolean }[]>`
    select c.relname || '.' || a.attname as name,
      coalesce(bool_or(pg_get_constraintdef(k.oid) ~ '(octet_length|is_sealed|FOREIGN KEY)'), false) as checked,
      coalesce(bool_and(k.convalidated), false) as whole
    from pg_attribute a
    join pg_class c on c.oid = a.attrelid and c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace
    left join pg_constraint k on k.conrelid = c.oid and k.contype in ('c', 'f') and k.conkey = array[a.attnum]
    where a.atttypid in ('bytea'::regtype, 'bytea[]'::regtype) and not a.attisdropped
    group by 1 order by 1`;
  expect(columns.length).toBeGreaterThan(19);
  expect(columns.filter(({ checked, whole }) => !checked || !whole)).toEqual([]);
});

test('the database refuses the text form of bytes in their place', async () => {
  const asText = (bytes: Buffer) => Buffer.from(`\\x${bytes.toString('hex')}`);
  const hash = randomBytes(32);
  const insert = (tokenHash: Buffer) => sql`
    insert into ended_session (token_hash, ends_at) values (${tokenHash}, now())`;
  for (const wrong of [asText(hash), Buffer.alloc(0), hash.subarray(1)])
    await expect(insert(wrong)).rejects.toMatchObject({ code: '23514' });
  await insert(hash);
  const sealed = seal([randomBytes(32)], '', 'here');
  const isSealed = async (bytes: Buffer) => (await sql`select is_sealed(${bytes}) as is`)[0]?.is;
  expect(await isSealed(sealed)).toBe(true);
  expect(await isSealed(sealed.subarray(1))).toBe(false);
  expect(await isSealed(asText(sealed))).toBe(false);
  // A random nonce may look like the start of a text.
  expect(await isSealed(Buffer.concat([Buffer.from('\\x00'), sealed.subarray(4)]))).toBe(true);
});
