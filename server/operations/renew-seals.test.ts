import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { type CuttableDatabase, cuttableDatabase } from '#test/support/cuttable-database.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { emptyTables } from '#test/support/rows-for-test.ts';
import { runVestibule } from '#test/support/run-vestibule.ts';
import { addConnection } from '#test/support/sso-for-test.ts';
import { keysOf, seal, unseal } from '../crypto/keys.ts';
import { totpPlace } from '../factors/registration.ts';
import { hubKeyPlace } from '../hub/hub-keys.ts';
import { portalKeyPlace } from '../single-sign-on/portal-keys.ts';
import { connectionPlace } from '../single-sign-on/sso-connection.ts';
import { renewSeals } from './renew-seals.ts';

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
  await emptyTables({ sql }, 'customer', 'portal_user', 'portal_key', 'hub_key', 'job', 'audit_event');
  await addCustomer(portal, 'acme');
  users = [];
  for (const username of ['ada', 'bob', 'eve']) users.push(await addUser(portal, { username, passwordHash: null }));
  connectionId = await addConnection(portal, { protocol: 'oidc', settings: {} as never });
});

/** What lasts, a row of each, and a session whose proof for sign-out ends with it. */
async function fill(keys = oldKeys): Promise<void> {
  const { sql, deps } = portal;
  const [user = ''] = users;
  const now = deps.now();
  const sealed = (text: string, place: string) => seal(keys.seal, text, place);
  await sql`update sso_connection set sealed_secret = ${sealed('client secret', connectionPlace(connectionId))}`;
  const [keyId, hubKeyId] = [randomUUID(), randomUUID()];
  await sql`
    insert into portal_key values (${keyId}, 'current', 'cert', ${sealed('key', portalKeyPlace(keyId))}, ${now}, ${now})`;
  await sql`
    insert into hub_key (id, jwk, sealed_key, made_at, signs_from)
    values (${hubKeyId}, '{}', ${sealed('hub key', hubKeyPlace(hubKeyId))}, ${now}, ${now})`;
  await sql`insert into totp values (${user}, ${sealed('totp', totpPlace(user))}, 0, ${now})`;
  await sql`
    insert into session (token_hash, user_id, stage, customer_ids, address, created_at, last_seen_at, ends_at, sealed_id_token)
    values (${Buffer.alloc(32, 1)}, ${user}, 'full', '{}', '127.0.0.1', ${now}, ${now}, ${now},
      ${sealed('id token', `id-token:${user}`)})`;
}

/** What lasts, opened with these keys. */
async function opened(keys: typeof oldKeys): Promise<(string | null)[]> {
  const rows = await portal.sql<{ sealed: Buffer; place: string }[]>`
    select sealed_secret as sealed, 'sso-connection:' || id as place from sso_connection
    union all select sealed_key, 'portal-key:' || id from portal_key
    union all select sealed_key, 'hub-key:' || id from hub_key
    union all select sealed_secret, 'totp:' || user_id from totp`;
  return rows.map(({ sealed, place }) => unseal(keys.seal, sealed, place));
}

const everything = ['client secret', 'key', 'hub key', 'totp'];
const events = async () => await portal.sql`select event, steps from audit_event where event = 'secrets-renewed'`;
const renew = () => renewSeals(portal.sql, bothKeys, portal.by());

describe('resealing', () => {
  it('leaves nothing that lasts under the older secret, counts the rest, and changes nothing the second time', async () => {
    await fill();
    expect(await opened(oldKeys)).toEqual(everything);
    const { counts, renewed } = await renew();
    expect(Object.values(renewed)).toEqual([1, 1, 1, 1]);
    expect(await opened(newKeys)).toEqual(everything);
    const left = counts.filter(({ older, unreadable }) => older + unreadable > 0);
    expect(left).toEqual([{ what: 'session.sealed_id_token', newest: 0, older: 1, unreadable: 0 }]);
    expect((await renew()).renewed).toEqual({});
    const [event, ...more] = await events();
    expect([event?.steps.length, more.length]).toEqual([4, 0]);
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
    await fill();
    const both = `${newSecret},${oldSecret}`;
    expect((await vestibule('doctor', both)).out).toMatch(
      /^warning – secrets – still sealed under an older secret: 1 hub_key.sealed_key, .* – vestibule secrets renew/m,
    );
    const { code, out, err } = await vestibule('secrets renew', both);
    expect(code).toBe(0);
    expect(err).toMatch(/still sealed under an older secret: 1 session\.sealed_id_token/);
    expect(out).toMatch(/^sso_connection\.sealed_secret +1 +1 +0 +0$/m);
    await portal.sql`delete from session`;
    expect(out).not.toContain('client secret\n');
    expect((await vestibule('doctor', newSecret)).out).toMatch(/^ok {6}– secrets – /m);
    const lost = await vestibule('secrets renew', oldSecret);
    expect(lost.code).toBe(1);
    expect(lost.err).toContain('missing from VESTIBULE_SECRET');
    expect((await vestibule('doctor', oldSecret)).out).toMatch(/^failed {2}– secrets – sealed under a secret missing/m);
  }, 30_000);
});
