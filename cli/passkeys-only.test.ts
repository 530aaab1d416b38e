import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addCustomer } from '#server/accounts/customers.ts';
import { addUser } from '#server/accounts/users.ts';
import { connect } from '#server/database/connect.ts';
import type { Database } from '#server/database/database.ts';
import { type EmbeddedPostgres, openEmbedded } from '#server/database/embedded/embedded.ts';
import { migrate } from '#server/database/migrate.ts';
import { insertPasskey } from '#server/factors/passkey.ts';
import { quickFolder } from '#test/support/quick-folder.ts';
import { runVestibule } from '#test/support/run-vestibule.ts';

let dataFolder: string;
let embedded: EmbeddedPostgres;
let sql: Database;

beforeAll(async () => {
  dataFolder = await mkdtemp(join(quickFolder, 'vestibule-passkeys-only-'));
  embedded = await openEmbedded({ dataFolder, log: { info() {}, warn() {} }, durable: false });
  sql = connect(embedded.place);
  await migrate(sql);
  await addCustomer(sql, { key: 'acme', name: 'Acme', allowedNetworks: [], twoFactor: 'off' }, new Date());
  for (const username of ['alice', 'bob', 'carol']) {
    const names = { username, email: `${username}@acme.example`, passwordHash: null, language: null };
    const user = { ...names, active: username !== 'carol', mayChangePassword: true, customers: ['acme'] };
    const added = await addUser(sql, user, new Date());
    if (added.kind === 'added' && username === 'alice')
      await insertPasskey(sql, {
        ...{ userId: added.id, rpId: 'localhost', name: 'Key', transports: [], now: new Date() },
        ...{ credentialId: Buffer.alloc(32, 1), publicKey: Buffer.alloc(77), counter: 0 },
        ...{ backupEligible: false, backedUp: false, aaguid: '00000000-0000-0000-0000-000000000000' },
      });
  }
});
afterAll(async () => {
  await sql.end();
  await embedded.close();
  await rm(dataFolder, { recursive: true });
});

const vestibule = (line: string, more: { env?: Record<string, string>; input?: string } = {}) =>
  runVestibule(line.split(' '), { ...more, env: { VESTIBULE_DATA: dataFolder, ...more.env } });

test('`only` is refused where no passkey can be made', async () => {
  const refused = await vestibule('customer set acme --passkeys only', { env: { PUBLIC_URL: 'https://192.0.2.7' } });
  expect(refused).toMatchObject({ code: 1, out: '' });
  expect(refused.err).toContain('--passkeys: no passkey can be made for the host of PUBLIC_URL, which is a number.');
  expect(await sql`select from customer where passkeys = 'only'`).toHaveLength(0);
});

test('`only` says how many active users have none, and names the command that mails a link', async () => {
  const { code, out, err } = await vestibule('customer set acme --passkeys only');
  expect([code, out]).toEqual([0, 'Customer acme changed.\n  passkeys: on → only\n']);
  expect(err).toContain('Users of this customer without a passkey: 1. ');
  expect((await vestibule('customer set acme --disable')).err).not.toContain('without a passkey');
  const { err: enabled } = await vestibule('customer set acme --enable');
  expect(enabled).toContain('Users of this customer without a passkey: 1. ');
  expect(err).toContain('vestibule user invite mails each a link to make one.');
  const doctor = await vestibule('doctor');
  expect(doctor.out).toMatch(
    /^warning – passkeys – customers that take passkeys only \(acme\): users without one: 1 – vestibule user invite$/m,
  );
  const moved = await vestibule('doctor', { env: { PUBLIC_URL: 'https://hub.acme.example' } });
  expect(moved.out).toMatch(
    /^warning – passkeys – .*users without one: 2 .*; passkeys for another domain, which sign nobody in: 1 – PUBLIC_URL or passkeys\.domain was changed$/m,
  );
  const locked = await vestibule('doctor', { env: { PUBLIC_URL: 'https://192.0.2.7' } });
  expect(locked.out).toMatch(/^failed {2}– passkeys – .*\(acme\): nobody can sign in, as no passkey can be made/m);
});

test('a user of such a customer is added and changed with a warning', async () => {
  const added = await vestibule('user add dave --email dave@acme.example --customer acme --no-password');
  expect(added.out).toBe('User dave added, without a password.\n');
  expect(added.err).toContain('they have no passkey. To have them make one by email: vestibule user invite dave');
  const set = await vestibule('user set alice --password-stdin', { input: 'Harbour-Lantern-77\n' });
  expect(set.err).toContain('A customer of alice takes passkeys only: no password signs them in.');
  const link = await vestibule('user reset-link alice');
  expect(link.err).toContain('a customer of the user takes passkeys only; vestibule user invite alice');
  const removed = await vestibule('user set alice --no-password');
  expect([removed.out.includes('passkeys removed'), removed.code]).toEqual([false, 0]);
  expect(await sql`select from passkey`).toHaveLength(1);
});

test('an import says how many have none', async () => {
  const line = JSON.stringify({
    username: 'erin',
    email: 'erin@acme.example',
    customers: ['acme'],
    emailVerified: true,
  });
  const imported = await vestibule('user import - --from vestibule', { input: `${line}\n` });
  expect(imported.err).toMatch(/Users of customers that take passkeys only, without one: \d\. /);
});
