import { beforeEach, describe, expect, it } from 'vitest';
import { addCustomer, addUser, signedInAs } from '#test/support/accounts-for-test.ts';
import { testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { emptyDatabase } from '#test/support/rows-for-test.ts';
import {
  addSamlConnection,
  bounced,
  postSamlAnswer,
  samlAnswer,
  samlProviderOfFile,
  samlRequestAt,
} from '#test/support/saml-for-test.ts';
import {
  type BrowserForTest,
  browserForTest,
  departFor,
  followLeavePage,
  lastFailure,
} from '#test/support/sso-for-test.ts';

const portal = portalOfFile();
const acme = samlProviderOfFile(portal, 'idp.acme.test');

let browser: BrowserForTest;
beforeEach(async () => {
  await emptyDatabase(portal);
  await addCustomer(portal, 'acme');
  await addCustomer(portal, 'beta');
  await addUser(portal, { username: 'alice' });
  await addUser(portal, { username: 'bob', customers: ['beta'] });
  await addSamlConnection(portal, acme);
  browser = browserForTest(portal);
});

/** Brings a provider's answer and finishes it in a browser. */
async function comeBack(url: string, by = browser) {
  return await postSamlAnswer(portal, by, samlAnswer(portal, acme, samlRequestAt(url)));
}
const who = async () => await signedInAs(portal, browser.cookies);

it('SA-42 the page that leads to a provider works only in the browser that began', async () => {
  const pressed = await browser.post('/portal/authenticate/performSsoLogin', {
    username: 'alice@acme.test',
    redirectURL: '/portal/reports',
  });
  const leave = String(pressed.headers.location);
  const other = browserForTest(portal);
  expect((await other.get(leave)).headers.location).toBe('/portal/singleSignOn?notice=cookiesNeeded');
  await departFor(other, 'someone@acme.test');
  const answer = await other.get(leave);
  expect(answer.headers.location).toBe('/portal/singleSignOn?notice=signInExpired');
  expect((await other.get(String(answer.headers.location))).body).not.toContain('alice@acme.test');
  await followLeavePage(browser, pressed);
});

it('SA-42 only the portal makes the cookie of the browser that began: a duplicate is ignored', async () => {
  const url = await departFor(browser);
  const { url: finish, form } = await bounced(portal, samlAnswer(portal, acme, samlRequestAt(url)));
  const cookie = Object.entries(browser.cookies).map(([name, value]) => `${name}=${value}`);
  const headers = { cookie: [...cookie, `vestibule-visit=${'A'.repeat(43)}`].join('; ') };
  const answer = await portal.send({ method: 'POST', url: finish, form, headers });
  expect(answer.headers.location).toMatch(/^\/portal\/loginfail\/saml/);
  expect(await portal.sql`select from session`).toHaveLength(0);
});

it('SE-15 after another person’s password sign-in an open visit signs nobody in and ends no session', async () => {
  const url = await departFor(browser, 'alice@acme.test', { redirectURL: '/portal/plan-of-alice' });
  await browser.post('/portal/performlogin', { username: 'bob', password: testPassword });
  const { location } = (await comeBack(url)).headers;
  expect(location).toBe('/portal/portal.html');
  expect((await browser.get(String(location))).body).not.toContain('alice');
  expect(await who()).toBe('bob');
  expect(await portal.sql`select from session`).toHaveLength(1);
});

describe('an answer for somebody while somebody else is signed in', () => {
  const answerForAlice = async (redirectURL = '/portal/reports?week=7') => {
    await browser.post('/portal/performlogin', { username: 'bob', password: testPassword });
    const url = await departFor(browser, 'alice@acme.test', { redirectURL });
    return String((await comeBack(url)).headers.location);
  };

  it('SE-15 replaces nothing and stores nothing: the operator sees why', async () => {
    await answerForAlice();
    expect(await who()).toBe('bob');
    expect(await portal.sql`select from session`).toHaveLength(1);
    expect(await portal.sql`select from sso_subject`).toHaveLength(0);
    expect(await lastFailure(portal)).toMatchObject({
      reason: 'signed-in-as-other',
      username: 'alice',
      steps: expect.arrayContaining([{ step: 'signed in here', outcome: 'bob' }]),
    });
  });

  it('SE-15 leads to a page that names who is signed in, and offers to go on or to sign out', async () => {
    for (const destination of ['/portal/reports?week=7', '/portal']) {
      const page = await browser.get(await answerForAlice(destination));
      for (const words of ['This browser is signed in as bob', 'Sign out and go on', 'Continue as bob'])
        expect(page.body).toContain(words);
      expect(page.body).not.toContain('alice');
    }
  });

  it('keeps the destination over the sign-out', async () => {
    const { body } = await browser.get(await answerForAlice());
    const action = (/<form action="(\/portal\/logout[^"]*)"/.exec(body)?.[1] ?? '').replaceAll('&amp;', '&');
    const { location } = (await browser.post(action, {})).headers;
    expect(location).toBe('/portal/login?destination=%2Fportal%2Freports%3Fweek%3D7');
    expect(await who()).toBeNull();
  });

  it('is used once: loaded again, it signs nobody in after the sign-out', async () => {
    const form = samlAnswer(portal, acme, samlRequestAt(await departFor(browser)));
    const { cookies } = await portal.signIn('bob', testPassword);
    for (const { name, value } of cookies) if (name === 'vestibule-session') browser.cookies[name] = value;
    const first = await postSamlAnswer(portal, browser, form);
    expect(first.headers.location).toContain('/portal/logout?confirm=&destination');
    await browser.post('/portal/logout', {});
    await postSamlAnswer(portal, browser, form);
    expect(await who()).toBeNull();
  });

  it('is for the page alone: whoever is signed in as the same person gets a new session', async () => {
    await browser.post('/portal/performlogin', { username: 'alice', password: testPassword });
    const before = browser.cookies['vestibule-session'];
    await comeBack(await departFor(browser));
    expect(await who()).toBe('alice');
    expect(browser.cookies['vestibule-session']).not.toBe(before);
    expect(await portal.sql`select from session`).toHaveLength(1);
  });
});

it('a second factor after a provider is open only to the browser that finished', async () => {
  await portal.sql`update customer set two_factor = 'email'`;
  const attacker = browserForTest(portal);
  const url = await departFor(attacker);
  expect((await comeBack(url, browser)).headers.location).toMatch(/^\/portal\/loginfail\/saml/);
  expect((await lastFailure(portal))?.reason).toBe('other-browser');
  expect(await portal.sql`select from session`).toHaveLength(0);
  expect((await comeBack(await departFor(browser))).headers.location).toContain('/twoFactor');
  await portal.workOff();
  portal.wait(1000);
  await portal.workOff();
  const code = /\b(\d{6})\b/.exec(portal.mails.at(-1)?.text ?? '')?.[1] ?? '';
  for (const cookies of [{}, attacker.cookies]) {
    const verify = { method: 'POST', url: '/portal/two-factor-authentication/verify', form: { code } } as const;
    await portal.send({ ...verify, cookies });
    expect(await portal.sql`select from session where stage = 'full'`).toHaveLength(0);
  }
  await browser.post('/portal/two-factor-authentication/verify', { code });
  expect(await who()).toBe('alice');
});

it('SA-42 a failure brought by another browser shows it nothing of the one that began', async () => {
  const victim = browserForTest(portal);
  const begun = await departFor(browser, 'mallory@acme.test', { redirectURL: '/portal/secret-plan' });
  const form = { ...samlAnswer(portal, acme, samlRequestAt(begun)), SAMLResponse: 'bm8=' };
  const posted = await postSamlAnswer(portal, victim, form);
  expect(posted.headers.location).toBe('/portal/loginfail/saml?notice=cookiesNeeded');
  expect((await victim.get(String(posted.headers.location))).body).not.toMatch(/secret-plan|mallory/);
});

it('OI-02 failed answers block nobody at their address from beginning a visit', async () => {
  const image = { headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'image', 'sec-fetch-mode': 'no-cors' } };
  const answers = ['oidc/callback/acme-oidc?state=x', `oidc/callback/acme-oidc?state=${'A'.repeat(43)}`];
  for (const answer of answers) await browser.get(`/portal/authenticate/${answer}`, image);
  await postSamlAnswer(portal, browser, { SAMLResponse: 'bm8=' });
  expect(await portal.sql`select from throttle where key like 'sso-%'`).toHaveLength(0);
  await portal.sql`update throttle set failures = 1e6, blocked_until = ${new Date(portal.deps.now().getTime() + 60_000)}`;
  await departFor(browser);
  expect((await browser.get(`/portal/authenticate/${answers[0]}`)).statusCode).toBe(429);
});
