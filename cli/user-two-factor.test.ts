import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { addCustomer } from '#server/accounts/customers.ts';
import { addUser } from '#server/accounts/users.ts';
import { connect } from '#server/database/connect.ts';
import type { Database } from '#server/database/database.ts';
import { type EmbeddedPostgres, openEmbedded } from '#server/database/embedded/embedded.ts';
import { migrate } from '#server/database/migrate.ts';
import { insertRememberedDevice } from '#server/factors/devices.ts';
import { insertTotp } from '#server/factors/totp.ts';
import { quickFolder } from '#test/support/quick-folder.ts';
import { emptyDatabase } from '#test/support/rows-for-test.ts';
import { runVestibule } from '#test/support/run-vestibule.ts';

let dataFolder: string;
let embedded: EmbeddedPostgres;
let sql: Database;
let ids: Record<string, string>;

beforeAll(async () => {
  dataFolder = await mkdtemp(join(quickFolder, 'vestibule-two-factor-'));
  embedded = await openEmbedded({ dataFolder, log: { info() {}, warn() {} }, durable: false });
  sql = connect(embedded.place);
  await migrate(sql);
});
beforeEach(async () => {
  await emptyDatabase({ sql });
  await addCustomer(sql, { key: 'acme', name: 'Acme', allowedNetworks: [], twoFactor: 'app' }, new Date());
  ids = {};
  for (const username of ['alice', 'bob']) {
    const names = { username, email: `${username}@acme.example`, passwordHash: null, language: null };
    const user = { ...names, active: true, mayChangePassword: true, customers: ['acme'] };
    const added = await addUser(sql, user, new Date());
    ids[username] = added.kind === 'added' ? added.id : '';
  }
  await sql`delete from audit_event`;
});
afterAll(async () => {
  await sql.end();
  await embedded.close();
  await rm(dataFolder, { recursive: true });
});

const vestibule = (line: string) => runVestibule(line.split(' '), { env: { VESTIBULE_DATA: dataFolder } });
const events = async () =>
  (await sql<{ event: string }[]>`select event from audit_event order by id`).map(({ event }) => event);

/** Adds a remembered device of a user, last used that many days ago; returns its id. */
async function remember(username: string, days: number, browser: string | null = 'Firefox, Linux'): Promise<string> {
  const at = (more: number) => new Date(Date.now() + more * 86_400_000);
  const tokenHash = Buffer.from(`${username} ${days}`.padEnd(32));
  const userId = ids[username] as string;
  await insertRememberedDevice(sql, {
    tokenHash,
    userId,
    factor: browser === null ? 'email' : 'app',
    browser,
    address: '192.0.2.1',
    madeAt: at(-days),
    endsAt: at(30 - days),
  });
  const [row] = await sql<{ id: string }[]>`select id from remembered_device where token_hash = ${tokenHash}`;
  return row?.id ?? '';
}

describe('user devices', { timeout: 60_000 }, () => {
  test('lists them, most recently used first, as a table and as JSON', async () => {
    const [older, newer] = [await remember('alice', 20, null), await remember('alice', 3)];
    await remember('bob', 1);
    await remember('alice', 31);
    const { code, out, err } = await vestibule('user devices alice@ACME.example');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const [heading, first, second, ...more] = out.trimEnd().split('\n');
    expect(heading).toMatch(/^ID +FACTOR +BROWSER +ADDRESS +SINCE +LAST USED +UNTIL$/);
    expect(first).toMatch(new RegExp(`^${newer}  app     Firefox, Linux  192\\.0\\.2\\.1  \\d{4}-`));
    expect(second).toMatch(new RegExp(`^${older}  email   - +192\\.0\\.2\\.1  `));
    expect(more).toEqual([]);
    const listed = JSON.parse((await vestibule('user devices alice --json')).out);
    expect(listed.map(({ id }: { id: string }) => id)).toEqual([newer, older]);
    expect(Object.keys(listed[0]).sort()).toEqual([
      'address',
      'browser',
      'endsAt',
      'factor',
      'id',
      'lastUsedAt',
      'madeAt',
    ]);
    expect(await events()).toEqual([]);
  });

  test('says so if there are none', async () => {
    expect((await vestibule('user devices alice')).out).toBe('User alice has no remembered devices.\n');
    expect(JSON.parse((await vestibule('user devices alice --json')).out)).toEqual([]);
  });

  test('--revoke revokes one, --revoke-all every one; it is recorded, and no other user is affected', async () => {
    const [one] = [await remember('alice', 1), await remember('alice', 2), await remember('bob', 1)];
    expect((await vestibule(`user devices alice --revoke ${one}`)).out).toBe('Devices revoked: 1.\n');
    expect(JSON.parse((await vestibule('user devices alice --json')).out)).toHaveLength(1);
    expect(JSON.parse((await vestibule('user devices alice --revoke-all --json')).out)).toEqual({ revoked: 1 });
    expect(JSON.parse((await vestibule('user devices alice --revoke-all --json')).out)).toEqual({ revoked: 0 });
    expect(await sql`select user_id as id from remembered_device`).toEqual([{ id: ids.bob }]);
    expect(await events()).toEqual(['device-forgotten', 'device-forgotten']);
    const [event] = await sql`select user_id, username, steps from audit_event limit 1`;
    const steps = [{ step: 'devices forgotten', outcome: '1' }];
    expect(event).toEqual({ user_id: ids.alice, username: 'alice', steps });
  });

  test('an unknown user, device or id is refused, and changes nothing', async () => {
    const [bobs] = [await remember('bob', 1), await remember('alice', 1)];
    const cases = [
      ['devices nobody', 'There is no user nobody.'],
      ['devices nobody --revoke-all', 'There is no user nobody.'],
      ['devices alice --revoke x', 'is not the id of a device'],
      ['devices alice --revoke 00000000-0000-0000-0000-000000000000', 'There is no device 00000000'],
      [`devices alice --revoke ${bobs}`, `There is no device ${bobs} of alice`],
      ['reset-two-factor nobody', 'There is no user nobody.'],
      ['reset-two-factor nobody --json', 'There is no user nobody.'],
    ];
    const results = await Promise.all(cases.map(([line]) => vestibule(`user ${line}`)));
    for (const [at, { code, out, err }] of results.entries()) {
      expect({ line: cases[at]?.[0], code, out }).toEqual({ line: cases[at]?.[0], code: 1, out: '' });
      expect(err).toContain(cases[at]?.[1]);
    }
    expect(await sql`select from remembered_device`).toHaveLength(2);
    expect(await events()).toEqual([]);
  });

  test('wrong usage exits with 2', async () => {
    const lines = ['devices', 'reset-two-factor', 'devices alice --revoke', 'devices alice --nonsense'];
    for (const result of await Promise.all(lines.map((line) => vestibule(`user ${line}`))))
      expect(result).toMatchObject({ code: 2, out: '' });
  });
});

describe('user reset-two-factor', { timeout: 60_000 }, () => {
  const giveApp = async () =>
    await insertTotp(sql, {
      userId: ids.alice as string,
      sealedSecret: Buffer.from('canary'.padEnd(28)),
      lastStep: 0,
      confirmedAt: new Date(),
    });

  test('removes the app, says so, records it and queues the email; user show reports the app', async () => {
    await giveApp();
    await remember('alice', 1);
    expect((await vestibule('user show alice')).out).toMatch(/^Authenticator app +registered$/m);
    const { code, out } = await vestibule('user reset-two-factor alice');
    expect([code, out]).toEqual([0, 'User alice no longer has a second factor; sessions ended: 0.\n']);
    expect((await vestibule('user show alice')).out).toMatch(/^Authenticator app +none$/m);
    expect(JSON.parse((await vestibule('user show alice --json')).out)).toMatchObject({ hasApp: false });
    expect(await sql`select from remembered_device`).toEqual([]);
    expect(await sql`select payload->>'kind' as kind, payload->>'recipient' as recipient from job`).toEqual([
      { kind: 'secondFactorRemoved', recipient: 'alice@acme.example' },
    ]);
    expect(await events()).toEqual(['two-factor-reset']);
    expect((await vestibule('user reset-two-factor alice')).out).toBe('User alice has no second factor.\n');
  });

  test('prints its outcome as JSON, and never a secret (LG-06)', async () => {
    await giveApp();
    const before = await vestibule('user show alice --json');
    expect(JSON.parse(before.out)).toMatchObject({ hasApp: true });
    const { out } = await vestibule('user reset-two-factor alice --json');
    expect(JSON.parse(out)).toEqual({ kind: 'removed', sessionsEnded: 0 });
    expect(JSON.parse((await vestibule('user reset-two-factor alice --json')).out)).toEqual({ kind: 'nothing' });
    const audit = await vestibule('audit --json');
    for (const text of [before.out, out, audit.out]) expect(text).not.toMatch(/canary|Y2FuYXJ5|63616e617279/);
  });
});

describe('customer --remember-devices', { timeout: 60_000 }, () => {
  test('is on by default, and unchanged when something else is changed', async () => {
    const shown = async (line: string) => JSON.parse((await vestibule(`customer ${line} --json`)).out).rememberDevices;
    expect(await shown('add beta')).toBe(true);
    expect(await shown('add gamma --remember-devices off')).toBe(false);
    expect(await shown('set gamma --two-factor app')).toBe(false);
    expect(await shown('set gamma --remember-devices on')).toBe(true);
    expect((await vestibule('customer set gamma --remember-devices off')).out).toContain(
      'remembered devices: on → off',
    );
    expect(await shown('set gamma --name Gamma')).toBe(false);
    expect(await shown('set gamma --new-device-mail on')).toBe(false);
    expect((await vestibule('customer set gamma --remember-devices maybe')).code).toBe(2);
  });
});

describe('user passkeys', { timeout: 60_000 }, () => {
  const add = async (username: string, name: string) => {
    const [row] = await sql<{ id: string }[]>`
      insert into passkey (user_id, credential_id, public_key, rp_id, counter, backup_eligible, backed_up, aaguid, name, made_at)
      values (${ids[username] as string}, ${randomBytes(32)}, ${randomBytes(77)}, 'localhost', 0, true, true,
        'd548826e-79b4-db40-a3d8-11116f7e8349', ${name}, now()) returning id`;
    return row?.id ?? '';
  };

  test('lists them, counts them in user show, and removes one, which is an event and a mail', async () => {
    const [id] = [await add('alice', 'My phone'), await add('bob', 'Other')];
    const { out } = await vestibule('user passkeys alice');
    expect(out).toMatch(
      new RegExp(`^ID +NAME +KEPT BY +BACKED UP +ADDED +LAST USED\\n${id}  My phone  Bitwarden  yes  .*  never\\n$`),
    );
    expect((await vestibule('user show alice')).out).toMatch(/^Passkeys +1$/m);
    expect((await vestibule(`user passkeys bob --remove ${id}`)).code).not.toBe(0);
    expect((await vestibule('user passkeys bob --remove x')).err).toContain('is not the id of a passkey');
    expect((await vestibule(`user passkeys alice --remove ${id}`)).out).toBe(
      'Passkey removed; the sessions that it opened have ended.\n',
    );
    expect(JSON.parse((await vestibule('user passkeys alice --json')).out)).toEqual([]);
    expect(await sql`select user_id as id from passkey`).toEqual([{ id: ids.bob }]);
    expect(await events()).toEqual(['passkey-removed']);
    expect(await sql`select payload->>'kind' as kind from job`).toEqual([{ kind: 'passkeyRemoved' }]);
  });
});

describe('user sessions', { timeout: 60_000 }, () => {
  const add = async (username: string, browser: string, more: { lastSeen?: string; stage?: 'half' } = {}) => {
    const { lastSeen = '1 minute', stage = 'full' } = more;
    const [row] = await sql<{ id: string }[]>`
      insert into session (token_hash, user_id, stage, waits_for, customer_ids, address, browser, passkey_id, created_at, last_seen_at, ends_at)
      values (${randomBytes(32)}, ${ids[username] as string}, ${stage}, ${stage === 'half' ? ['app'] : []}, '{}', '2001:db8::7',
        ${browser}, ${browser === 'Safari, iOS' ? randomUUID() : null}, now() - interval '1 hour',
        now() - ${lastSeen}::interval, now() + interval '1 hour')
      returning id`;
    return row?.id ?? '';
  };

  test('lists those that are alive, counts them in user show, and ends one, which is an event', async () => {
    const phone = await add('alice', 'Safari, iOS');
    const desk = await add('alice', 'Firefox, Windows', { lastSeen: '2 minutes' });
    await add('alice', 'Chrome, Linux', { lastSeen: '20 days' });
    await add('bob', 'Chrome, Android');
    const { out } = await vestibule('user sessions alice');
    expect(out).toMatch(
      new RegExp(
        `^ID +BROWSER +ADDRESS +BY +SIGNED IN +LAST USED\\n${phone}  Safari, iOS +2001:db8::7  passkey .*\\n${desk}  Firefox, Windows  2001:db8::7  password .*\\n$`,
      ),
    );
    expect((await vestibule('user show alice')).out).toMatch(/^Sessions +2$/m);
    expect(JSON.parse((await vestibule('user show alice --json')).out)).toMatchObject({ sessions: 2 });
    expect((await vestibule(`user sessions bob --end ${phone}`)).err).toContain(`There is no session ${phone} of bob.`);
    expect((await vestibule('user sessions bob --end x')).err).toContain('is not the id of a session');
    expect((await vestibule(`user sessions alice --end ${phone}`)).out).toBe('Sessions ended: 1.\n');
    const left = JSON.parse((await vestibule('user sessions alice --json')).out);
    expect(left).toMatchObject([{ id: desk, byPasskey: false, provider: null, browser: 'Firefox, Windows' }]);
    expect(await events()).toEqual(['user-signed-out']);
    const [event] = await sql`select steps from audit_event where event = 'user-signed-out'`;
    expect(event?.steps).toContainEqual({ step: 'session', outcome: phone });
  });

  test('ends all, half ones too', async () => {
    await add('alice', 'Safari, iOS');
    await add('alice', 'Firefox, Windows', { stage: 'half' });
    await add('bob', 'Chrome, Android');
    expect((await vestibule(`user sessions alice --end ${randomUUID()} --end-all`)).code).toBe(2);
    expect(JSON.parse((await vestibule('user sessions alice --end-all --json')).out)).toEqual({ sessionsEnded: 2 });
    expect((await vestibule('user sessions alice')).out).toBe('User alice is signed in nowhere.\n');
    expect(await sql`select browser from session`).toEqual([{ browser: 'Chrome, Android' }]);
  });
});
