import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { addMissingHubKeys } from '#server/hub/add-hub-keys.ts';
import { day, limits } from '#server/limits.ts';
import { queueMail } from '#server/mail/queue-mail.ts';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { cuttableDatabase } from '#testing/cuttable-database.ts';
import { cookiesOf, portalForTest, testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import {
  addSamlConnection,
  postSamlAnswer,
  samlAnswer,
  samlProvider,
  samlRequestAt,
} from '#testing/saml-sign-in-for-test.ts';
import { browserForTest, departFor } from '#testing/sso-for-test.ts';
import { codeNow, giveApp, halfSession, signInWithApp, verify } from '#testing/two-factor-for-test.ts';
import { keepHouse } from './housekeeping.ts';

const metricsToken = 'a-token-of-the-monitoring';
const portal = portalOfFile({ config: { metricsToken } });
beforeAll(async () => {
  await addCustomer(portal, 'acme');
});

async function readMetrics(authorization?: string) {
  return await portal.send({ url: '/metrics', headers: { ...(authorization && { authorization }) } });
}

/** The value of a sample, by name and labels. */
async function sample(name: string): Promise<number> {
  const { body } = await readMetrics(`Bearer ${metricsToken}`);
  const line = body.split('\n').find((text) => text.startsWith(`${name} `));
  return Number(line?.slice(name.length));
}

it('nobody reads the metrics without the token, and with it by any name of the portal', async () => {
  for (const authorization of [undefined, 'Bearer', 'Bearer x', `bearer ${metricsToken}x`, metricsToken]) {
    const answer = await readMetrics(authorization);
    expect(answer.statusCode).toBe(401);
    expect(answer.body).not.toContain('vestibule_');
  }
  const headers = { host: '10.0.0.5:8080', authorization: `Bearer ${metricsToken}` };
  const answer = await portal.send({ url: '/metrics', headers });
  expect(answer.statusCode).toBe(200);
  expect(answer.headers['content-type']).toContain('text/plain');
});

it('there are no metrics if no token is configured', async () => {
  const plain = await portalForTest({}, portal);
  expect((await plain.send({ url: '/metrics', headers: { authorization: 'Bearer null' } })).statusCode).toBe(404);
  await plain.close();
});

it('show how many emails are queued, since when, and how many were sent', async () => {
  const id = await addUser(portal, { username: 'bob' });
  const user = { id, username: 'bob', email: 'bob@acme.test', language: null };
  expect(await sample('vestibule_mails_waiting')).toBe(0);
  await queueMail(portal.sql, user, { kind: 'passwordChanged', now: portal.deps.now() });
  portal.wait(30_000);
  expect(await sample('vestibule_mails_waiting')).toBe(1);
  expect(await sample('vestibule_mails_oldest_wait_seconds')).toBe(30);
  await portal.workOff();
  expect(await sample('vestibule_mails_waiting')).toBe(0);
  expect(await sample('vestibule_mails_oldest_wait_seconds')).toBe(0);
  expect(await sample('vestibule_mails_sent_total{kind="passwordChanged"}')).toBe(1);
});

describe('sign-ins', () => {
  beforeAll(async () => {
    await addUser(portal, { username: 'ada', customers: ['acme'] });
  });

  it('are counted by the last proof and its outcome', async () => {
    await portal.signIn('ada', testPassword);
    await portal.signIn('ada', 'Wrong-Lantern-42');
    await portal.signIn('nobody-has-this-name', testPassword);
    expect(await sample('vestibule_sign_ins_total{way="password",outcome="signed-in"}')).toBe(1);
    expect(await sample('vestibule_sign_ins_total{way="password",outcome="wrong-password"}')).toBe(1);
    expect(await sample('vestibule_sign_ins_total{way="password",outcome="unknown-user"}')).toBe(1);
  });

  it('by a second factor, and by a provider, are counted by the way that let them in', async () => {
    await addCustomer(portal, 'strict', { twoFactor: 'app' });
    await addUser(portal, { username: 'tess', customers: ['strict'] });
    const secret = await giveApp(portal, 'tess');
    await signInWithApp(portal, 'tess', secret);
    // Used already.
    await verify(portal, codeNow(portal, secret), await halfSession(portal, 'tess'));
    expect(await sample('vestibule_sign_ins_total{way="password",outcome="second-factor-asked"}')).toBe(2);
    expect(await sample('vestibule_sign_ins_total{way="app",outcome="signed-in"}')).toBe(1);
    expect(await sample('vestibule_sign_ins_total{way="app",outcome="code-refused"}')).toBe(1);

    const provider = await samlProvider('idp.acme.test', portal.deps.now());
    await addSamlConnection(portal, provider);
    const outcomes = { 'ada@acme.test': 'signed-in', 'stranger@acme.test': 'unknown-user' };
    for (const [email, outcome] of Object.entries(outcomes)) {
      const browser = browserForTest(portal);
      const request = samlRequestAt(await departFor(browser, email));
      const answer = await postSamlAnswer(portal, browser, samlAnswer(portal, provider, request, { email }));
      await browser.get(String(answer.headers.location), { headers: { 'sec-fetch-site': 'cross-site' } });
      expect(await sample(`vestibule_sign_ins_total{way="saml",outcome="${outcome}"}`)).toBe(1);
    }
    expect(await sample('vestibule_ends_seconds{connection="acme-saml",what="certificate"}')).toBeGreaterThan(0);
  });

  it('that have to wait are counted by what was tried too often', async () => {
    for (let tried = 0; tried < 8; tried += 1) await portal.signIn('ada', `Wrong-Lantern-${tried}`);
    expect(await sample('vestibule_throttled_total{kind="account"}')).toBeGreaterThan(0);
    const refused = await sample('vestibule_sign_ins_total{way="password",outcome="throttled-account"}');
    expect(await sample('vestibule_throttled_total{kind="account"}')).toBe(refused);
  });

  it('leave no name, address or text of a visitor in a label', async () => {
    await portal.send({ url: '/portal/some/Canary/page?x=Canary' });
    await portal.send({ url: '/Canary' });
    await portal.signIn('Canary', 'Canary-42-Canary', { headers: { 'user-agent': 'Canary' } });
    const { body } = await readMetrics(`Bearer ${metricsToken}`);
    expect(body).not.toMatch(/canary|\bada\b|198\.51\.100/i);
  });

  it('and their sessions are shown by stage, counted again after a minute', async () => {
    portal.wait(limits.metricsCountedEvery);
    const before = await sample('vestibule_sessions{stage="full"}');
    await addUser(portal, { username: 'eve' });
    await portal.signIn('eve', testPassword);
    portal.wait(limits.metricsCountedEvery);
    expect(await sample('vestibule_sessions{stage="full"}')).toBe(before + 1);
    // Of tess, who waits for a code.
    expect(await sample('vestibule_sessions{stage="half"}')).toBe(1);
    portal.wait(limits.metricsCountedEvery + portal.deps.config.sessionIdle);
    expect(await sample('vestibule_sessions{stage="full"}')).toBe(0);
    expect(await sample('vestibule_sessions{stage="half"}')).toBe(0);
  });
});

it('requests are counted by the name of their route and by status, and timed', async () => {
  const answer = await portal.signIn('eve', testPassword);
  await portal.send({ url: '/portal/session', cookies: cookiesOf(answer) });
  await portal.send({ url: '/portal/session' });
  const { body: page } = await portal.send({ url: '/portal/' });
  await portal.send({ url: `/portal/${/assets\/[^"]+\.js/.exec(page)}` });
  await portal.send({ url: '/elsewhere' });
  expect(await sample('vestibule_requests_total{route="session",status="200"}')).toBe(1);
  expect(await sample('vestibule_requests_total{route="session",status="401"}')).toBe(1);
  expect(await sample('vestibule_requests_total{route="assets",status="200"}')).toBe(1);
  expect(await sample('vestibule_requests_total{route="none",status="404"}')).toBeGreaterThanOrEqual(1);
  expect(await sample('vestibule_request_seconds_count{route="session"}')).toBe(2);
  const { body } = await readMetrics(`Bearer ${metricsToken}`);
  const unnamed = body.match(/route="(?![A-Za-z]+")[^"]*"/g);
  expect(unnamed).toBeNull();
});

it('hashes, statements and emails are timed, and failures apart', async () => {
  const before = await sample('vestibule_database_seconds_count{outcome="failed"}');
  const hashes = await sample('vestibule_password_hash_seconds_count{outcome="done"}');
  await portal.signIn('eve', testPassword);
  await expect(portal.sql`select 1 / 0`).rejects.toThrow();
  await expect(portal.sql.begin(async (sql) => await sql`select 1 / 0`)).rejects.toThrow();
  expect(await sample('vestibule_database_seconds_count{outcome="failed"}')).toBe((before || 0) + 2);
  expect(await sample('vestibule_password_hash_seconds_count{outcome="done"}')).toBe((hashes || 0) + 1);
  expect(await sample('vestibule_mail_seconds_count{outcome="done"}')).toBeGreaterThanOrEqual(1);
  expect(await sample('vestibule_password_hashes_waiting')).toBe(0);
});

it('the other figures are there while the database is down', async () => {
  const wire = await cuttableDatabase(portal.database);
  const cut = await portalForTest({ metricsToken }, portal, { sql: wire.sql });
  await wire.cut();
  const { body, statusCode } = await cut.send({
    url: '/metrics',
    headers: { authorization: `Bearer ${metricsToken}` },
  });
  expect(statusCode).toBe(200);
  expect(body).toMatch(/^vestibule_mails_waiting Nan$/m);
  expect(body).toMatch(/^vestibule_build_info\{version="\d/m);
  await cut.close();
  await wire.close();
});

it('every metric has a row in the documentation, and every row is a metric', async () => {
  const { body } = await readMetrics(`Bearer ${metricsToken}`);
  const names = [...body.matchAll(/^# TYPE (vestibule_\w+)/gm)].map(([, name]) => name);
  const page = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8');
  const table = page.split('## Metrics\n')[1]?.split('\n## ')[0] ?? '';
  const rows = [...table.matchAll(/^\| `(vestibule_\w+)` \|/gm)].map(([, name]) => name);
  expect(rows.sort()).toEqual(names.sort());
});

it('keys for hubs end when they are to be replaced', async () => {
  await addMissingHubKeys(portal.deps);
  portal.wait(day);
  const left = await sample('vestibule_ends_seconds{connection="",what="hub key"}');
  expect(left).toBe((limits.hubKeyAge - day) / 1000);
  portal.wait(limits.hubKeyAge);
  expect(await sample('vestibule_ends_seconds{connection="",what="hub key"}')).toBe(-day / 1000);
  await keepHouse(portal.deps);
  expect(await sample('vestibule_ends_seconds{connection="",what="hub key"}')).toBe(limits.hubKeyAge / 1000);
});
