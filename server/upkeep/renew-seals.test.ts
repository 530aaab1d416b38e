import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { type CuttableDatabase, cuttableDatabase } from '#testing/cuttable-database.ts';
import { emptyTables } from '#testing/empty-tables.ts';
import { holdRows, untilWaiting } from '#testing/held-rows.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { runVestibule } from '#testing/run-vestibule.ts';
import { addConnection } from '#testing/sso-for-test.ts';
import { queueMail } from '../mail/queue-mail.ts';
import { seal, unseal } from '../secrets/sealed.ts';
import { keysOf } from '../secrets/server-secret.ts';
import { hubKeyPlace } from '../storage/hub-key.ts';
import { listPortalKeys } from '../storage/portal-key.ts';
import { listSealedRows } from '../storage/sealed-column.ts';
import { connectionPlace, findSsoConnection } from '../storage/sso-connection.ts';
import { outcomePlace, questionPlace } from '../storage/sso-request.ts';
import { totpPlace } from '../two-factor/registration.ts';
import { countSeals, renewSeals } from './renew-seals.ts';
import { sealedKinds } from './sealed-columns.ts';

const oldSecret = 'the-old-secret-0123456789-0123456789';
const newSecret = 'the-new-secret-0123456789-0123456789';
const oldKeys = keysOf([oldSecret]);
const bothKeys = keysOf([newSecret, oldSecret]);
const newKeys = keysOf([newSecret]);

const portal = portalOfFile();

let connectionId: string;
let users: string[];
beforeEach(async () => {
  const { sql } = portal;
  await emptyTables(
    { sql },
    'customer',
    'portal_user',
    'sso_connection',
    'portal_key',
    'hub_key',
    'session',
    'mail',
    'audit_event',
  );
  await emptyTables({ sql }, 'pending_totp', 'signed_out_session');
  await addCustomer(portal, 'acme');
  users = [];
  for (const username of ['ada', 'bob', 'eve']) users.push(await addUser(portal, { username, passwordHash: null }));
  connectionId = await addConnection(portal, { protocol: 'oidc', settings: {} as never });
});

/** One row of every kind, sealed with the given keys for its own place. */
async function fillEverything(keys = oldKeys): Promise<void> {
  const { sql, deps } = portal;
  const [user = ''] = users;
  const now = deps.now();
  const hash = (byte: number) => Buffer.alloc(32, byte);
  const sealed = (text: string, place: string) => seal(keys.seal, text, place);
  await sql`update sso_connection set sealed_secret = ${sealed('client secret', connectionPlace(connectionId))}`;
  const keyId = randomUUID();
  await sql`
    insert into portal_key values (${keyId}, 'current', 'cert', ${sealed('key', `portal-key:${keyId}`)}, ${now}, ${now})`;
  const hubKeyId = randomUUID();
  await sql`
    insert into hub_key (id, algorithm, jwk, sealed_key, made_at, signs_from)
    values (${hubKeyId}, 'ES256', '{}', ${sealed('hub key', hubKeyPlace(hubKeyId))}, ${now}, ${now})`;
  await sql`insert into totp values (${user}, ${sealed('totp', totpPlace(user))}, 0, ${now})`;
  const ada = { id: user, username: 'ada', email: 'ada@acme.test', language: 'en' };
  const token = { token: 'the-token', tokenHash: hash(7), keys: keys.seal };
  await queueMail(sql, ada, { kind: 'resetLink', now, address: '127.0.0.1', language: 'en' }, token);
  await sql`
    insert into session (token_hash, user_id, stage, customer_ids, address, created_at, last_seen_at, ends_at, sealed_id_token, sealed_replaced_id_token)
    values (${hash(1)}, ${user}, 'full', '{}', '127.0.0.1', ${now}, ${now}, ${now}, ${sealed('id token', `id-token:${user}`)},
      ${sealed('id token replaced', `id-token:${user}`)})`;
  await sql`
    insert into signed_out_session (token_hash, user_id, stage, sealed_id_token, ends_at)
    values (${hash(5)}, ${user}, 'full', ${sealed('id token of before', `id-token:${user}`)}, ${now})`;
  const requestId = randomUUID();
  await sql`
    insert into sso_request (id, state_hash, connection_id, sealed_details, sealed_answer, answer_hash, answer_ends_at,
      sealed_question, question_hash, question_ends_at, sealed_outcome, outcome_ends_at, made_at, ends_at)
    values (${requestId}, ${hash(2)}, ${connectionId}, ${sealed('details', `sso-request:${requestId}`)},
      ${sealed('answer', `sso-request:${requestId}`)}, ${hash(3)}, ${now},
      ${sealed('question', questionPlace(requestId))}, ${hash(4)}, ${now},
      ${sealed('outcome', outcomePlace(requestId))}, ${now}, ${now}, ${now})`;
  const session = hash(1).toString('hex');
  await sql`
    insert into pending_totp values (${hash(1)}, ${sealed('pending', `pending-totp:${session}`)}, ${now})`;
  await sql`
    insert into shown_recovery_codes (user_id, session_hash, sealed_codes, shown_until)
    values (${user}, ${hash(1)}, ${sealed('codes', `recovery-codes:${user}:${session}`)}, ${now})`;
}

/** Every sealed text, decrypted with these keys. */
async function readEverything(keys: typeof oldKeys): Promise<(string | null)[]> {
  const rows = await Promise.all(
    sealedKinds.map(async (kind) =>
      (await listSealedRows(portal.sql, kind, { after: null, most: 10 })).map((row) =>
        unseal(keys.seal, row.sealed, kind.place(row)),
      ),
    ),
  );
  return rows.flat();
}

const everything = [
  'client secret',
  'key',
  'hub key',
  'totp',
  'the-token',
  'id token',
  'id token replaced',
  'id token of before',
  'details',
  'answer',
  'question',
  'outcome',
  'pending',
  'codes',
];
const events = async () => await portal.sql`select event, steps from audit_event where event = 'secrets-renewed'`;

describe('resealing everything', () => {
  it('covers every sealed column of the database', async () => {
    const columns = await portal.sql<{ name: string }[]>`
      select table_name || '.' || column_name as name from information_schema.columns
      where table_schema = current_schema() and data_type = 'bytea' and column_name like '%sealed%' order by name`;
    expect(sealedKinds.map(({ table, column }) => `${table}.${column}`).sort()).toEqual(
      columns.map(({ name }) => name),
    );
  });

  it('leaves nothing that needs the older secret, and records the count', async () => {
    await fillEverything();
    expect(await readEverything(oldKeys)).toEqual(everything);
    const { counts, renewed } = await renewSeals(portal.sql, bothKeys, portal.deps.now());
    expect(Object.values(renewed)).toEqual(everything.map(() => 1));
    expect(counts.every(({ newest, older, unreadable }) => newest === 1 && older === 0 && unreadable === 0)).toBe(true);
    expect(await readEverything(newKeys)).toEqual(everything);
    const [event] = await events();
    expect(event?.steps).toHaveLength(sealedKinds.length);
  });

  it('changes nothing the second time', async () => {
    await fillEverything();
    await renewSeals(portal.sql, bothKeys, portal.deps.now());
    const before = await listPortalKeys(portal.sql);
    expect((await renewSeals(portal.sql, bothKeys, portal.deps.now())).renewed).toEqual({});
    expect(await listPortalKeys(portal.sql)).toEqual(before);
    expect(await events()).toHaveLength(1);
  });

  it('leaves what no secret opens, and reports the count', async () => {
    await fillEverything(keysOf(['a-secret-that-was-lost-0123456789-0123']));
    const { counts, renewed } = await renewSeals(portal.sql, bothKeys, portal.deps.now());
    expect(renewed).toEqual({});
    expect(counts.every(({ unreadable }) => unreadable === 1)).toBe(true);
    expect(await events()).toHaveLength(0);
  });

  it('never overwrites what a running server stored meanwhile', async () => {
    await fillEverything();
    const { sql } = portal;
    const changed = seal(bothKeys.seal, 'set meanwhile', connectionPlace(connectionId));
    // The server's own change is in progress, so the renewal waits for it and finds another seal than it read.
    const commit = await holdRows(sql, (sql) => sql`update sso_connection set sealed_secret = ${changed}`);
    const renewal = renewSeals(sql, bothKeys, portal.deps.now());
    await untilWaiting(sql, 1);
    await commit();
    expect((await renewal).renewed['client secrets']).toBeUndefined();
    expect((await findSsoConnection(sql, connectionId))?.sealedSecret).toEqual(changed);
  });

  it('handles more rows than it reads at once', async () => {
    const { sql, deps } = portal;
    await sql`
      insert into portal_user (username, email, active, may_change_password, created_at)
      select 'user' || n, 'user' || n || '@many.test', true, true, ${deps.now()} from generate_series(1, 450) n`;
    for (const { id } of await sql<{ id: string }[]>`select id from portal_user where email like '%@many.test'`)
      await sql`insert into totp values (${id}, ${seal(oldKeys.seal, 'totp', totpPlace(id))}, 0, ${deps.now()})`;
    expect((await renewSeals(sql, bothKeys, deps.now())).renewed).toEqual({ 'authenticator apps': 450 });
    expect((await countSeals(sql, newKeys)).find(({ what }) => what === 'authenticator apps')?.newest).toBe(450);
  });
});

describe('vestibule secrets renew', () => {
  let wire: CuttableDatabase;
  beforeAll(async () => {
    wire = await cuttableDatabase(portal.database);
  });
  afterAll(async () => {
    await wire.close();
  });
  const vestibule = (line: string, VESTIBULE_SECRET: string) =>
    runVestibule(line.split(' '), {
      env: { DATABASE_URL: wire.url, VESTIBULE_SECRET, VESTIBULE_CONFIG: '', SMTP_URL: 'smtp://127.0.0.1:1' },
    });

  it('reports what it did, and doctor reports before and after what depends on an older secret', async () => {
    await fillEverything();
    const both = `${newSecret},${oldSecret}`;
    expect((await vestibule('doctor', both)).out).toMatch(
      /^warning – secrets – still sealed under an older secret: 1 client secrets, .* – vestibule secrets renew$/m,
    );
    const { code, out, err } = await vestibule('secrets renew', both);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^client secrets +1 +1 +0 +0$/m);
    expect(out).not.toContain('client secret\n');
    expect((await vestibule('doctor', newSecret)).out).toMatch(/^ok {6}– secrets – /m);
    const lost = await vestibule('secrets renew', oldSecret);
    expect(lost.code).toBe(1);
    expect(lost.err).toContain('missing from VESTIBULE_SECRET');
    expect((await vestibule('doctor', oldSecret)).out).toMatch(/^failed {2}– secrets – sealed under a secret missing/m);
  }, 30_000);
});
