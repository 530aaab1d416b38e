import { beforeAll, describe, expect, it } from 'vitest';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { cuttableDatabase } from '#test/support/cuttable-database.ts';
import { cookiesOf, portalForTest, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import {
  addSamlConnection,
  postSamlAnswer,
  samlAnswer,
  samlProvider,
  samlRequestAt,
} from '#test/support/saml-for-test.ts';
import { browserForTest, departFor } from '#test/support/sso-for-test.ts';
import { codeNow, giveApp, halfSession, signInWithApp, verify } from '#test/support/two-factor-for-test.ts';

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

describe('sign-ins', () => {
  beforeAll(async () => {
    await addUser(portal, { username: 'ada', customers: ['acme'] });
  });

  it('by a second factor, and by a provider, are counted by the way that let them in', async () => {
    await addCustomer(portal, 'strict', { twoFactor: 'app' });
    await addUser(portal, { username: 'tess', customers: ['strict'] });
    const secret = await giveApp(portal, 'tess');
    await signInWithApp(portal, 'tess', secret);
    // Used already.
    await verify(portal, codeNow(portal, secret), await halfSession(portal, 'tess'));
    expect(await sample('vestibule_sign_ins_total{method="password",outcome="second-factor-asked"}')).toBe(2);
    expect(await sample('vestibule_sign_ins_total{method="app",outcome="signed-in"}')).toBe(1);
    expect(await sample('vestibule_sign_ins_total{method="app",outcome="code-refused"}')).toBe(1);

    const provider = await samlProvider('idp.acme.test', portal.deps.now());
    await addSamlConnection(portal, provider);
    const outcomes = { 'ada@acme.test': 'signed-in', 'stranger@acme.test': 'unknown-user' };
    for (const [email, outcome] of Object.entries(outcomes)) {
      const browser = browserForTest(portal);
      const request = samlRequestAt(await departFor(browser, email));
      await postSamlAnswer(portal, browser, samlAnswer(portal, provider, request, { email }));
      expect(await sample(`vestibule_sign_ins_total{method="saml",outcome="${outcome}"}`)).toBe(1);
    }
    expect(await sample('vestibule_ends_seconds{connection="acme-saml",what="certificate"}')).toBeGreaterThan(0);
  });
});

it('requests are timed by the name of their route and by status', async () => {
  const answer = await portal.signIn('ada', testPassword);
  await portal.send({ url: '/portal/session', cookies: cookiesOf(answer) });
  await portal.send({ url: '/portal/session' });
  const { body: page } = await portal.send({ url: '/portal/' });
  await portal.send({ url: `/portal/${/assets\/[^"]+\.js/.exec(page)}` });
  await portal.send({ url: '/elsewhere' });
  expect(await sample('vestibule_request_seconds_count{route="session",status="200"}')).toBe(1);
  expect(await sample('vestibule_request_seconds_count{route="session",status="401"}')).toBe(1);
  expect(await sample('vestibule_request_seconds_count{route="assets",status="200"}')).toBe(1);
  expect(await sample('vestibule_request_seconds_count{route="none",status="404"}')).toBeGreaterThanOrEqual(1);
  const { body } = await readMetrics(`Bearer ${metricsToken}`);
  const unnamed = body.match(/route="(?![A-Za-z]+")[^"]*"/g);
  expect(unnamed).toBeNull();
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
  expect(body).toMatch(/^vestibule_jobs_oldest_wait_seconds\{queue="mail"\} NaN$/im);
  expect(body).toMatch(/^vestibule_build_info\{version="\d/m);
  await cut.close();
  await wire.close();
});
