import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { type DebianPostgresql, debianPostgresql } from '#test/support/debian-postgresql.ts';
import { cookiesOf, type PortalForTest, portalForTest, testPassword } from '#test/support/portal-for-test.ts';
import {
  askForLink,
  askForReset,
  changedPage,
  changeTo,
  failedPage,
  newPassword,
  tokenIn,
  userId,
} from '#test/support/reset-for-test.ts';
import {
  codeNow,
  giveApp,
  giveRecoveryCodes,
  halfSession,
  signInWithApp,
  step,
  verdict,
  verify,
} from '#test/support/two-factor-for-test.ts';
import { keysOf } from '../crypto/keys.ts';
import { connect } from '../database/connect.ts';
import { migrate } from '../database/migrate.ts';
import { queueMail } from '../mail/queue-mail.ts';

const secret = 'the-secret-of-the-portal-in-use-0123456789';

// A portal in use is dumped with Debian's pg_dump, and restored into another database for another portal.
let server: DebianPostgresql;
let folder: string;
let here: PortalForTest;
let there: PortalForTest;
const used = {
  app: '',
  code: '',
  recovery: [] as string[],
  link: '',
  openLink: '',
  session: {} as Record<string, string>,
};

async function portalOn(name: string): Promise<PortalForTest> {
  const place = { url: server.urlOf(name) };
  const sql = connect(place);
  const portal = await portalForTest({}, { database: { sql, place, close: () => sql.end() } });
  Object.assign(portal.deps.keys, keysOf([secret]));
  return portal;
}

beforeAll(async () => {
  server = await debianPostgresql();
  folder = await mkdtemp(join(tmpdir(), 'vestibule-backup-'));
  await server.program('createdb', '--maintenance-db', server.urlOf('postgres'), 'here');
  const sql = connect({ url: server.urlOf('here') });
  await migrate(sql);
  await sql.end();
  here = await portalOn('here');

  await addCustomer(here, 'acme');
  await addCustomer(here, 'strict', { twoFactor: 'app' });
  for (const username of ['alice', 'bob', 'eve']) await addUser(here, { username });
  await addUser(here, { username: 'ada', customers: ['strict'] });
  used.app = await giveApp(here, 'ada');
  used.recovery = await giveRecoveryCodes(here, 'ada');
  await signInWithApp(here, 'ada', used.app);
  used.code = codeNow(here, used.app);
  const half = await halfSession(here, 'ada');
  expect((await verify(here, used.recovery[0], half)).statusCode).toBe(200);
  used.link = await askForLink(here, 'bob');
  expect((await changeTo(here, used.link, newPassword)).headers.location).toBe(changedPage);
  used.openLink = await askForLink(here, 'alice');
  used.session = cookiesOf(await here.signIn('bob', newPassword));
  here.mails.length = 0;
  // Waits in the queue with a sealed link.
  await askForReset(here, 'eve@acme.test');
  here.onSend(() => Promise.reject(new Error('not yet')));

  const dump = join(folder, 'vestibule.dump');
  await server.program('pg_dump', '--format=custom', `--file=${dump}`, server.urlOf('here'));
  await server.program('createdb', '--maintenance-db', server.urlOf('postgres'), 'there');
  await server.program('pg_restore', '--exit-on-error', '--no-owner', `--dbname=${server.urlOf('there')}`, dump);
  there = await portalOn('there');
}, 180_000);
afterAll(async () => {
  for (const portal of [here, there]) {
    await portal?.close();
    await portal?.sql.end();
  }
  await server?.close();
  await rm(folder, { recursive: true });
});

describe('RL-11 a portal restored from a backup', () => {
  it('accepts no code of an app or recovery code that was used', async () => {
    const half = await halfSession(there, 'ada');
    for (const code of [used.code, used.recovery[0]]) expect(verdict(await verify(there, code, half))).not.toBe(true);
    expect((await verify(there, used.recovery[1], half)).statusCode).toBe(200);
  });

  it('lets people sign in, with their latest password and their app, and knows their sessions', async () => {
    expect((await there.send({ url: '/portal/session', cookies: used.session })).statusCode).toBe(200);
    expect((await there.signIn('bob', newPassword)).headers.location).toBe('/portal/portal.html');
    expect((await there.signIn('bob', testPassword)).headers.location).toContain('/loginfail');
    there.wait(2 * step);
    await signInWithApp(there, 'ada', used.app);
  });

  it('accepts no reset link that was used, and one that was open', async () => {
    expect((await changeTo(there, used.link, 'Another-Lantern-55')).headers.location).toBe(failedPage(3));
    expect((await changeTo(there, used.openLink, 'Another-Lantern-55')).headers.location).toBe(changedPage);
  });

  it('sends the emails that waited, with links that work', async () => {
    await there.workOff();
    const link = tokenIn(there.mails.findLast(({ recipient }) => recipient === 'eve@acme.test'));
    expect((await changeTo(there, link, newPassword)).headers.location).toBe(changedPage);
  });
});

it('what the page has an operator run after an old backup ends sessions, links and waiting emails', async () => {
  const id = await userId(there, 'bob');
  const user = { id, username: 'bob', email: 'bob@acme.test', language: null };
  await queueMail(there.sql, user, { kind: 'passwordChanged', now: there.deps.now() });
  const link = await askForLink(there, 'alice');
  const page = await readFile(new URL('../../docs/operating.md', import.meta.url), 'utf8');
  const [, statements = ''] = /psql "\$DATABASE_URL" -c '([^']+)'/.exec(page) ?? [];
  expect(statements).not.toBe('');
  await server.program('psql', server.urlOf('there'), '-v', 'ON_ERROR_STOP=1', '-c', statements);
  expect((await there.send({ url: '/portal/session', cookies: used.session })).statusCode).toBe(401);
  expect((await changeTo(there, link, newPassword)).headers.location).not.toBe(changedPage);
  const [left] = await there.sql<{ count: number }[]>`select count(*) as count from job`;
  expect(left?.count).toBe(0);
});
