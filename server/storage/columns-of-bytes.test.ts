import { randomBytes } from 'node:crypto';
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { seal } from '#server/secrets/sealed.ts';
import { type DatabaseForTest, databaseForTest } from '#testing/database-for-test.ts';
import { listUnreadableSecrets } from './columns-of-bytes.ts';
import { connect } from './connect.ts';
import type { Database } from './database.ts';
import { migrate } from './migrate.ts';

let database: DatabaseForTest;
let sql: Database;
beforeEach(async () => {
  database = await databaseForTest();
  sql = database.sql;
  return () => database.close();
});

test('every byte column has a validated length check', async () => {
  const columns = await sql<{ name: string; checked: boolean; whole: boolean }[]>`
    select c.relname || '.' || a.attname as name,
      coalesce(bool_or(pg_get_constraintdef(k.oid) ~ '(octet_length|is_sealed)'), false) as checked,
      coalesce(bool_and(k.convalidated), false) as whole
    from pg_attribute a
    join pg_class c on c.oid = a.attrelid and c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace
    left join pg_constraint k on k.conrelid = c.oid and k.contype = 'c' and k.conkey = array[a.attnum]
    where a.atttypid in ('bytea'::regtype, 'bytea[]'::regtype) and not a.attisdropped
    group by 1 order by 1`;
  expect(columns.length).toBeGreaterThan(19);
  expect(columns.filter(({ checked, whole }) => !checked || !whole)).toEqual([]);
});

test('the database refuses the text form of bytes in their place', async () => {
  const asText = (bytes: Buffer) => Buffer.from(`\\x${bytes.toString('hex')}`);
  const hash = randomBytes(32);
  const insert = (tokenHash: Buffer) => sql`
    insert into device (token_hash, user_id, last_used_at) values (${tokenHash}, gen_random_uuid(), now())`;
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

describe('the migration of a database with corrupted bytes', () => {
  let before: string;
  let old: Database;
  const asText = (bytes: Buffer) => Buffer.from(`\\x${bytes.toString('hex')}`);
  beforeEach(async () => {
    before = await mkdtemp(join(tmpdir(), 'vestibule-migrations-'));
    const folder = join(import.meta.dirname, 'migrations');
    for (const name of await readdir(folder)) if (name < '0007') await cp(join(folder, name), join(before, name));
    await sql.unsafe('drop schema public cascade; create schema public');
    const notices: string[] = [];
    old = connect(database.place, { onNotice: (text) => void notices.push(text) });
    await migrate(old, { folder: before });
  });
  afterEach(async () => {
    await old.end();
    await rm(before, { recursive: true });
  });

  /** A user with an app, recovery codes, sessions and so on, whose bytes passed through `bytes`. */
  async function fill(username: string, made: (bytes: Buffer) => Buffer) {
    const [hash, secret] = [randomBytes(32), seal([randomBytes(32)], 'secret', 'place')];
    const [user] = await old<{ id: string }[]>`
      insert into portal_user (username, email, created_at) values (${username}, ${username}, now()) returning id`;
    const id = user?.id ?? '';
    const token = made(hash);
    const sealed = made(secret);
    await old`
      insert into session (token_hash, user_id, stage, customer_ids, address, created_at, last_seen_at, ends_at)
      values (${token}, ${id}, 'half', '{}', '::1', now(), now(), now())`;
    await old`insert into device values (${token}, ${id}, now())`;
    await old`insert into throttle values (${username}, 1, now(), null, ${made(hash.subarray(8, 16))}, true)`;
    await old`insert into reset_link values (${token}, ${id}, now(), now())`;
    await old`
      insert into mail (id, kind, user_id, recipient, language, details, sealed_token, token_hash, queued_at, send_after)
      values (gen_random_uuid(), 'resetLink', ${id}, '', 'en', '{}', ${sealed}, ${token}, now(), now()),
        (gen_random_uuid(), 'passwordChanged', ${id}, '', 'en', '{}', null, null, now(), now())`;
    await old`insert into totp values (${id}, ${sealed}, 0, now())`;
    await old`insert into pending_totp values (${token}, ${id}, ${sealed}, now())`;
    await old`insert into email_code values (${token}, ${id}, ${token}, now(), now())`;
    await old`insert into recovery_code values (${id}, ${token}), (${id}, ${made(randomBytes(32))})`;
    await old`insert into shown_recovery_codes values (${id}, ${sealed}, now(), ${token})`;
    await old`
      insert into remembered_device (token_hash, user_id, address, made_at, last_used_at, ends_at)
      values (${token}, ${id}, '::1', now(), now(), now())`;
    const [connection] = await old<{ id: string }[]>`
      with c as (insert into customer (key, name, created_at) values (${username}, '', now()) returning id)
      insert into sso_connection (key, name, customer_id, protocol, settings, sealed_secret, created_at)
      select ${username}, '', id, 'oidc', '{}', ${sealed}, now() from c returning id`;
    await old`
      insert into sso_request (state_hash, connection_id, sealed_details, made_at, ends_at)
      values (${token}, ${connection?.id ?? ''}, ${sealed}, now(), now())`;
    await old`insert into saml_assertion values (${connection?.id ?? ''}, ${token}, now())`;
    return { id, hash, secret };
  }

  const counted = [
    ...['session', 'device', 'reset_link', 'mail', 'pending_totp', 'email_code', 'shown_recovery_codes'],
    ...['remembered_device', 'sso_request', 'saml_assertion', 'totp', 'recovery_code', 'sso_connection'],
  ];
  const count = async () => {
    const counts: [string, number][] = [];
    for (const table of counted) {
      const [row] = await sql.unsafe<{ count: number }[]>(`select count(*) as count from ${table}`);
      counts.push([table, Number(row?.count)]);
    }
    return Object.fromEntries(counts);
  };

  test('repairs what somebody would miss, removes the rest, and keeps what is right', async () => {
    await fill('right', (bytes) => bytes);
    const { id, hash, secret } = await fill('text', asText);
    // One of the codes exists in its correct form too: it is not duplicated.
    await old`insert into recovery_code values (${id}, ${hash})`;
    await old`
      insert into portal_key (stage, certificate, sealed_key, made_at, ends_at) values ('current', '', ${asText(secret)}, now(), now())`;
    const steps = await migrate(sql);
    expect(steps[0]).toBe('0007-lengths-of-bytes.sql');
    const one = ['session', 'device', 'reset_link', 'pending_totp', 'email_code', 'shown_recovery_codes'];
    expect(await count()).toEqual({
      ...Object.fromEntries([...one, 'remembered_device', 'sso_request', 'saml_assertion'].map((name) => [name, 1])),
      ...{ mail: 3, totp: 2, recovery_code: 4, sso_connection: 2 },
    });
    expect(await sql`select sealed_secret as sealed from totp where user_id = ${id}`).toEqual([{ sealed: secret }]);
    expect(await sql`select count(*) from recovery_code where user_id = ${id} and code_hash = ${hash}`).toEqual([
      { count: 1 },
    ]);
    expect(await sql`select sealed_key as sealed from portal_key`).toEqual([{ sealed: secret }]);
    expect(await sql`select sealed_secret as sealed from sso_connection where key = 'text'`).toEqual([
      { sealed: secret },
    ]);
    expect(await sql`select key, last_guess is null as emptied from throttle order by key`).toEqual([
      { key: 'right', emptied: false },
      { key: 'text', emptied: true },
    ]);
    expect(await sql`select conname from pg_constraint where not convalidated`).toEqual([]);
    expect(await listUnreadableSecrets(sql)).toEqual([]);
  });

  test('keeps and reports an app and a key that nothing can open, and removes such a client secret', async () => {
    await fill('ada', (bytes) => bytes.subarray(0, 7));
    await old`
      insert into portal_key (stage, certificate, sealed_key, made_at, ends_at) values ('next', '', 'short', now(), now())`;
    const notices: string[] = [];
    const speaking = connect(database.place, { onNotice: (text) => void notices.push(text) });
    await migrate(speaking);
    await speaking.end();
    expect(await count()).toMatchObject({ session: 0, recovery_code: 0, totp: 1, sso_connection: 1, mail: 1 });
    expect(notices.filter((text) => text.includes('vestibule doctor'))).toHaveLength(2);
    expect(notices.filter((text) => text.includes('client secret of ada'))).toHaveLength(1);
    expect(await listUnreadableSecrets(sql)).toEqual([
      { what: 'app', whose: 'ada' },
      { what: 'portal key', whose: 'next' },
    ]);
    expect(await migrate(sql)).toEqual([]);
  });

  test('several instances run it once, and an interrupted one starts again', async () => {
    await fill('text', asText);
    const file = 'migrations/0007-lengths-of-bytes.sql';
    const { readFile } = await import('node:fs/promises');
    const parts = (await readFile(join(import.meta.dirname, file), 'utf8')).split('-- new transaction\n');
    for (const part of parts.slice(0, 20)) await sql.unsafe(part);
    const others = Array.from({ length: 4 }, () => connect(database.place, { poolSize: 1 }));
    const applied = await Promise.all(others.map((other) => migrate(other)));
    expect(applied.flat().filter((name) => name.startsWith('0007'))).toHaveLength(1);
    await Promise.all(others.map((other) => other.end()));
    expect(await sql`select conname from pg_constraint where not convalidated`).toEqual([]);
  });
});
