import { beforeEach, describe, expect, it } from 'vitest';
import { limits } from '#server/limits.ts';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { emptyDatabase } from '#test/support/rows-for-test.ts';
import {
  addSamlConnection,
  postSamlAnswer,
  samlAnswer,
  samlProviderOfFile,
  samlRequestAt,
} from '#test/support/saml-for-test.ts';
import { type BrowserForTest, browserForTest, departFor, keepCookies } from '#test/support/sso-for-test.ts';
import { codeNow, giveApp, step, verify } from '#test/support/two-factor-for-test.ts';

const portal = portalOfFile();
const provider = samlProviderOfFile(portal, 'idp.acme.test');
beforeEach(async () => {
  await emptyDatabase(portal);
  portal.mails.length = 0;
  await addCustomer(portal, 'acme');
  await addUser(portal, { username: 'alice' });
  await addSamlConnection(portal, provider);
});

async function signInByProvider(
  browser: BrowserForTest,
  leadsTo = '/portal/portal.html',
  email = 'alice@acme.test',
): Promise<void> {
  const request = samlRequestAt(await departFor(browser, email));
  const end = await postSamlAnswer(portal, browser, samlAnswer(portal, provider, request, { email }));
  expect(end.headers.location?.split('?')[0]).toBe(leadsTo);
}

const deviceOf = ({ cookies }: BrowserForTest) => ({ 'vestibule-device': cookies['vestibule-device'] ?? '' });

/** How many of these guesses had the password checked. */
async function lookedAt(browsers: BrowserForTest[], each: number): Promise<number> {
  for (const [at, browser] of browsers.entries())
    for (let n = 0; n < each; n += 1)
      await portal.signIn('alice', `guess ${at} ${n}`, { cookies: deviceOf(browser), from: `192.0.2.${at + 1}` });
  const [row] = await portal.sql<{ count: number }[]>`
    select count(*)::int as count from audit_event where event = 'sign-in-refused' and reason = 'wrong-password'`;
  await portal.sql`delete from audit_event`;
  return row?.count ?? 0;
}

it('BF-01 browsers known only through a provider have no attempts of their own', async () => {
  const browsers = Array.from({ length: 4 }, () => browserForTest(portal));
  for (const browser of browsers) await signInByProvider(browser);
  expect(await lookedAt(browsers, 5)).toBe(limits.throttle.account.freeFailures);
});

it('BF-01 a password makes such a browser known, by a new token', async () => {
  const browser = browserForTest(portal);
  await signInByProvider(browser);
  const before = deviceOf(browser);
  await browser.post('/portal/performlogin', { username: 'alice', password: testPassword });
  expect(deviceOf(browser)).not.toEqual(before);
  expect(await lookedAt([browserForTest(portal)], 8)).toBe(limits.throttle.account.freeFailures);
  const isIn = async (cookies: Record<string, string>) =>
    (await portal.signIn('alice', testPassword, { cookies })).headers.location === '/portal/portal.html';
  expect(await isIn(before)).toBe(false);
  expect(await isIn(deviceOf(browser))).toBe(true);
  // What is known from the password remains after a sign-in by the provider.
  const known = deviceOf(browser);
  await signInByProvider(browser);
  expect(deviceOf(browser)).toEqual(known);
});

describe('the mail of a new browser', () => {
  beforeEach(async () => {
    await portal.sql`update customer set new_device_mail = true`;
  });

  const mails = async () => {
    await portal.workOff();
    return portal.mails.filter(({ subject }) => subject.startsWith('New sign-in')).length;
  };
  const byPassword = (browser: BrowserForTest) =>
    browser.post('/portal/performlogin', { username: 'alice', password: testPassword });

  it('is sent at the first password in a browser that only used a provider: it was never typed there', async () => {
    const browser = browserForTest(portal);
    await signInByProvider(browser);
    expect(await mails()).toBe(1);
    await byPassword(browser);
    expect(await mails()).toBe(2);
    await signInByProvider(browser);
    await byPassword(browser);
    expect(await mails()).toBe(2);
  });

  it('is sent once if the password came first: a later provider adds nothing', async () => {
    const browser = browserForTest(portal);
    await byPassword(browser);
    expect(await mails()).toBe(1);
    await signInByProvider(browser);
    await byPassword(browser);
    expect(await mails()).toBe(1);
  });

  it('is sent if only another customer of the user wants it', async () => {
    await addCustomer(portal, 'strict', { networks: ['203.0.113.0/24'] });
    await portal.sql`update customer set new_device_mail = key = 'strict'`;
    await addUser(portal, { username: 'carl', customers: ['acme', 'strict'] });
    const browser = browserForTest(portal);
    await signInByProvider(browser, '/portal/portal.html', 'carl@acme.test');
    expect(await mails()).toBe(1);
  });

  it('is the same when a second factor is required', async () => {
    const secret = await giveApp(portal, 'alice');
    const enter = async (browser: BrowserForTest) => {
      portal.wait(2 * step);
      const answer = await verify(portal, codeNow(portal, secret), browser.cookies);
      expect(answer.body).toBe('true');
      keepCookies(browser, answer);
    };
    const browser = browserForTest(portal);
    await signInByProvider(browser, '/portal/twoFactor');
    await enter(browser);
    expect(await mails()).toBe(1);
    for (const count of [2, 2]) {
      await byPassword(browser);
      await enter(browser);
      expect(await mails()).toBe(count);
    }
    await signInByProvider(browser, '/portal/twoFactor');
    await enter(browser);
    expect(await mails()).toBe(2);
  });
});
