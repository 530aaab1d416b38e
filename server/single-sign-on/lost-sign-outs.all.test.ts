import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { minute } from '#server/limits.ts';
import { keepHouse } from '#server/upkeep/housekeeping.ts';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { emptyTables } from '#testing/empty-tables.ts';
import { startForgedProvider } from '#testing/forged-openid-provider.ts';
import { testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { linkFor, newPassword } from '#testing/reset-for-test.ts';
import { sharedByFile } from '#testing/shared-by-file.ts';
import { signedInAs } from '#testing/signed-in-as.ts';
import {
  addOidcConnection,
  type BrowserForTest,
  browserForTest,
  departFor,
  followLeavePage,
  pathOf,
} from '#testing/sso-for-test.ts';

// Sign-outs whose response never reaches the browser: it comes back with the cookie of a session that is gone.

const portal = portalOfFile();
const provider = sharedByFile(() => startForgedProvider(portal.deps));
beforeAll(async () => {
  await addCustomer(portal, 'acme');
  for (const username of ['alice', 'amy']) await addUser(portal, { username });
  await addOidcConnection(portal, provider);
});

let browser: BrowserForTest;
beforeEach(async () => {
  await emptyTables(portal, 'session', 'ended_session', 'signed_out_session', 'throttle', 'sso_request');
  browser = browserForTest(portal);
  answerFrom(0);
  await comeBack(await departFor(browser));
});

/** Alice, who signed in at the provider this many seconds ago. */
const answerFrom = (secondsAgo: number) =>
  provider.bend({
    claims: (honest) => ({
      ...honest,
      email: 'alice@acme.test',
      auth_time: Math.floor(portal.deps.now().getTime() / 1000) - secondsAgo,
    }),
  });
const comeBack = async (url: string) => await browser.get(pathOf(provider.visit(url)));
const lostSignOut = async () => {
  const cookies = { ...browser.cookies };
  const answer = await portal.send({ method: 'POST', url: '/portal/logout', form: {}, cookies });
  expect(answer.statusCode).toBeLessThan(400);
};
const pressButton = async () => await browser.post('/portal/authenticate/checkSsoLogin', {});
const expectAskedAfresh = async () => {
  answerFrom(7200);
  const url = await followLeavePage(browser, await pressButton());
  await comeBack(url);
  expect([new URL(url).searchParams.get('prompt'), await signedInAs(portal, browser.cookies)]).toEqual(['login', null]);
};

/** Closes the browser, which drops the session cookie; those of the portal that have an age stay. */
const close = () => delete browser.cookies['vestibule-session'];
/** Whether the next page ends the turn. */
const isTurnOver = async () => {
  const before = browser.cookies['vestibule-signed-out'];
  await browser.get('/portal/login');
  return browser.cookies['vestibule-signed-out'] !== before;
};

it.each(
  ['/portal/login', '/portal/portal.html', '/portal/session'].flatMap((url) => [
    [url, 'left open'] as const,
    [url, 'closed'] as const,
  ]),
)(
  'SE-15 a sign-out whose response is lost is one for the next request, at %s, in a browser that was %s',
  async (url, browserIs) => {
    await departFor(browser);
    await lostSignOut();
    if (browserIs === 'closed') close();
    await browser.get(url);
    expect(browser.cookies['vestibule-signed-out']).toMatch(/^[\w-]{43}$/);
    expect(Object.keys(browser.cookies).filter((name) => /visit|session/.test(name))).toEqual([]);
    await expectAskedAfresh();
  },
);

it('SE-15 in a browser that was closed, if the next request is the button, or the end of a visit, and only once', async () => {
  await lostSignOut();
  close();
  portal.wait(5 * minute);
  await expectAskedAfresh();
  expect(await isTurnOver()).toBe(false);
  answerFrom(0);
  await comeBack(await departFor(browser));
  const url = await departFor(browser);
  await lostSignOut();
  close();
  await comeBack(url);
  expect(await signedInAs(portal, browser.cookies)).toBeNull();
});

it('SE-15 in a browser that was closed, and has lost the mark of an earlier sign-out', async () => {
  await browser.post('/portal/logout', {});
  answerFrom(0);
  await comeBack(await departFor(browser));
  await lostSignOut();
  close();
  delete browser.cookies['vestibule-signed-out'];
  await expectAskedAfresh();
});

it('SE-15 however long the session would have lasted', async () => {
  await lostSignOut();
  portal.wait(portal.deps.config.sessionAbsolute + minute);
  await keepHouse(portal.deps);
  await expectAskedAfresh();
});

it('a browser that was closed without one, has read its response, or has signed in again since has signed nobody out', async () => {
  const other = { ...browser, cookies: { ...browser.cookies } };
  close();
  expect(await isTurnOver()).toBe(false);
  Object.assign(browser.cookies, other.cookies);
  await browser.post('/portal/logout', {});
  expect(await isTurnOver()).toBe(false);
  answerFrom(0);
  await comeBack(await departFor(browser));
  await lostSignOut();
  await browser.post('/portal/performlogin', { username: 'alice', password: testPassword });
  close();
  expect(await isTurnOver()).toBe(false);
});

it('nor has one that signs out in order to set up an app', async () => {
  await browser.post('/portal/logout?destination=/portal/twoFactorRegistration', {});
  expect(browser.cookies).not.toHaveProperty('vestibule-session');
  expect(await isTurnOver()).toBe(false);
});

it('SE-15 by whichever of the session’s tokens the browser has', async () => {
  await portal.sql`update session set former_token_hash = token_hash, token_hash = sha256('newer')`;
  await lostSignOut();
  await browser.get('/portal/login');
  expect(browser.cookies['vestibule-signed-out']).toMatch(/^[\w-]{43}$/);
});

it.each(['left open', 'closed'])(
  'SE-15 the lost response of a password change that ended somebody else’s session in a browser that was %s',
  async (browserIs) => {
    const hash = await linkFor(portal, 'amy');
    const password = `${newPassword} ${browserIs}`;
    const form = { hash, password, repeat: password };
    await portal.send({ method: 'POST', url: '/portal/password/change', form, cookies: { ...browser.cookies } });
    if (browserIs === 'closed') close();
    await browser.get('/portal/login');
    expect(browser.cookies['vestibule-signed-out']).toMatch(/^[\w-]{43}$/);
    await expectAskedAfresh();
  },
);

it.each(['left open', 'closed'])(
  'SE-15 so is that of a half session, in a browser that was %s: who gave up has been at the provider',
  async (browserIs) => {
    await portal.sql`delete from session`;
    await portal.sql`update customer set two_factor = 'email'`;
    await browser.post('/portal/performlogin', { username: 'alice', password: testPassword });
    const half = await portal.sql`select stage, replaced_full as "replacedFull" from session`;
    expect(half).toEqual([{ stage: 'half', replacedFull: false }]);
    await lostSignOut();
    await portal.sql`update customer set two_factor = 'off'`;
    if (browserIs === 'closed') close();
    await expectAskedAfresh();
  },
);

it('a half session that was given up, and the response was read, has signed nobody out: what the tab has saved stays', async () => {
  await portal.sql`update customer set two_factor = 'email'`;
  await browser.post('/portal/logout', {});
  await browser.post('/portal/performlogin', { username: 'alice', password: testPassword });
  await browser.post('/portal/logout', {});
  await portal.sql`update customer set two_factor = 'off'`;
  expect(await isTurnOver()).toBe(false);
});

describe('SE-15 a page of the second factor afterwards', () => {
  const secondFactor = '/portal/two-factor-authentication';
  const redirectURL = '/portal/portal.html?report=7';
  const toForm = '/portal/login?notice=signInExpired';
  beforeEach(lostSignOut);

  it.each(['send', 'verify'])('posts to %s, and the destination is not for the next person', async (call) => {
    const form = { code: '123456', redirectURL, codeSentViaEmail: 'true' };
    expect((await browser.post(`${secondFactor}/${call}`, form)).headers.location).toBe(toForm);
  });

  it.each([
    ['send', {}],
    ['verify', { body: '"123456"', headers: { 'content-type': 'application/json', accept: 'application/json' } }],
  ])('calls %s, and its script learns that the turn is over', async (call, how) => {
    const headers = { accept: 'application/json' };
    const url = `${secondFactor}/${call}`;
    const answer = await portal.send({ method: 'POST', url, headers, cookies: browser.cookies, ...how });
    expect([answer.statusCode, answer.json()]).toEqual([
      401,
      expect.objectContaining({ notice: 'signInExpired', since: 'signOut' }),
    ]);
  });

  it('is loaded again, and leads to the form without the destination', async () => {
    const { headers } = await browser.get(`/portal/twoFactor?redirectURL=${encodeURIComponent(redirectURL)}`);
    expect(headers.location).toBe(toForm);
  });
});

it('SE-15 the name typed before is not in the form afterwards', async () => {
  const isShown = async (url: string) => (await browser.get(url)).body.includes('"typedUsername":"amy"');
  await browser.post('/portal/performlogin', { username: 'amy', password: 'wrong' });
  expect(await isShown('/portal/forgotten')).toBe(true);
  await lostSignOut();
  expect([await isShown('/portal/forgotten'), await isShown('/portal/login')]).toEqual([false, false]);
});
