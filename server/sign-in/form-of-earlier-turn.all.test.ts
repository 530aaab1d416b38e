import { beforeAll, beforeEach, expect, it } from 'vitest';
import { turnOfForm } from '#contract/turn-of-form.ts';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { emptyTables } from '#testing/empty-tables.ts';
import { assertionOf } from '#testing/passkey-for-test.ts';
import { challengeFor, givePasskey, postAssertion } from '#testing/passkey-sign-in-for-test.ts';
import { testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { signedInAs } from '#testing/signed-in-as.ts';
import { type BrowserForTest, browserForTest } from '#testing/sso-for-test.ts';

// A form whose post failed waits in the tab's history, with name and password: a reload sends it again.

const portal = portalOfFile();
beforeAll(async () => {
  await addCustomer(portal, 'acme');
  for (const username of ['alice', 'bob']) await addUser(portal, { username });
});
let browser: BrowserForTest;
beforeEach(async () => {
  await emptyTables(portal, 'session', 'audit_event', 'throttle', 'device', 'passkey');
  await portal.sql`update customer set two_factor = 'off'`;
  browser = browserForTest(portal);
});

const destination = '/portal/portal.html?report=7';
/** The form as the browser shows it now. */
async function formShown() {
  const { body } = await browser.get(`/portal/login?destination=${encodeURIComponent(destination)}`);
  return { turn: /name="turn" value="([^"]*)"/.exec(body)?.[1] ?? '', redirectURL: destination };
}
const post = async (form: Record<string, string>, username = 'alice') =>
  await browser.post('/portal/performlogin', { username, password: testPassword, ...form });
const signOut = async () => await browser.post('/portal/logout', {});
const events = async () => (await portal.sql`select event from audit_event order by id`).map(({ event }) => event);

it('carries the turn that it belongs to', async () => {
  expect(await formShown()).toMatchObject({ turn: '.' });
  await post(await formShown());
  await signOut();
  const { 'vestibule-signed-in': signedIn = '', 'vestibule-signed-out': signedOut = '' } = browser.cookies;
  expect(await formShown()).toMatchObject({ turn: turnOfForm({ signedIn, signedOut }) });
});

it('SE-15 posted again after a sign-in and a sign-out it signs nobody in', async () => {
  const failed = await formShown();
  await post(await formShown());
  await signOut();
  await portal.sql`delete from audit_event`;
  const again = await post(failed);
  expect(again.headers.location).toBe('/portal/login?notice=signInExpired');
  expect(await signedInAs(portal, browser.cookies)).toBeNull();
  expect(await events()).toEqual([]);
  expect(await portal.sql`select from throttle where key like 'account:%'`).toHaveLength(0);
});

it('SE-15 nor after a sign-in whose session has expired; the destination is kept, as the tab keeps it', async () => {
  const failed = await formShown();
  await post(await formShown());
  portal.wait(portal.deps.config.sessionIdle);
  const again = await post(failed);
  expect(again.headers.location).toBe(
    `/portal/login?notice=signInExpired&destination=${encodeURIComponent(destination)}`,
  );
  expect(await signedInAs(portal, browser.cookies)).toBeNull();
});

it.each(['GET', 'POST'] as const)('SE-15 nor once a second factor is abandoned (%s)', async (method) => {
  const failed = await formShown();
  await portal.sql`update customer set two_factor = 'app'`;
  await post(await formShown());
  expect(await portal.sql`select stage from session`).toEqual([{ stage: 'half' }]);
  const shownMeanwhile = await formShown();
  await browser.open('/portal/logout', { method, headers: { 'sec-fetch-site': 'same-origin' } });
  for (const form of [failed, shownMeanwhile]) {
    const again = await post(form);
    const kept = `/portal/login?notice=signInExpired&destination=${encodeURIComponent(destination)}`;
    expect(again.headers.location).toBe(kept);
    expect(await portal.sql`select from session`).toEqual([]);
  }
  expect((await post(await formShown())).headers.location).toContain('/portal/twoFactorRegistration');
});

it.each(['in a closed browser', 'with a dead cookie'])(
  'SE-15 nor of who signed in and out by answers that were never read, %s; the next form does',
  async (before) => {
    await post(await formShown(), 'bob');
    if (before === 'with a dead cookie') await portal.sql`delete from session`;
    else await signOut();
    const form = await formShown();
    const unread = async (url: string, fields: Record<string, string>) =>
      await portal.send({ method: 'POST', url, form: fields, cookies: { ...browser.cookies } });
    await unread('/portal/performlogin', { username: 'alice', password: testPassword, ...form });
    portal.wait(3000);
    await unread('/portal/logout', {});
    expect(await portal.sql`select from session`).toHaveLength(0);
    portal.wait(60_000);
    expect((await post(form)).headers.location).toBe('/portal/login?notice=signInExpired');
    expect(await signedInAs(portal, browser.cookies)).toBeNull();
    await post(await formShown(), 'bob');
    expect(await signedInAs(portal, browser.cookies)).toBe('bob');
  },
);

it.each(['alice', 'ALICE@acme.test'])(
  'posted while alice is signed in in another tab it signs in %s, and goes its own way',
  async (username) => {
    const open = await formShown();
    await post({});
    expect((await post(open, username)).headers.location).toBe(destination);
    expect(await signedInAs(portal, browser.cookies)).toBe('alice');
  },
);

it('SE-15 posted while somebody else is signed in, it asks whether to sign them out: it may wait in the history', async () => {
  const failed = await formShown();
  await post({}, 'bob');
  for (const username of ['alice', 'alice@acme.test', 'nobody']) {
    expect((await post(failed, username)).headers.location).toBe('/portal/logout?confirm=account');
    expect(await signedInAs(portal, browser.cookies)).toBe('bob');
  }
  expect(await portal.sql`select from audit_event where username = 'alice' or event = 'sign-in-refused'`).toEqual([]);
  await signOut();
  expect((await post(failed)).headers.location).toBe('/portal/login?notice=signInExpired');
  expect(await signedInAs(portal, browser.cookies)).toBeNull();
});

it('SE-15 nor while somebody else is at their second factor, after one that was abandoned', async () => {
  const failed = await formShown();
  await portal.sql`update customer set two_factor = 'app'`;
  await post(await formShown());
  await signOut();
  await post(await formShown(), 'bob');
  expect((await post(failed)).headers.location).toContain('/portal/login?notice=signInExpired');
  const half = await portal.sql`select stage, username from session join portal_user u on u.id = user_id`;
  expect(half).toEqual([{ stage: 'half', username: 'bob' }]);
});

it.each(['alice', 'bob'])(
  'SE-15 with a passkey of alice’s it does so, unless she is (%s is signed in)',
  async (here) => {
    const passkey = await givePasskey(portal, 'alice');
    const failed = await formShown();
    await post({}, here);
    const credential = assertionOf(passkey, { challenge: await challengeFor(browser) });
    const { location } = (await postAssertion(browser, credential, failed)).headers;
    expect(location).toBe(here === 'alice' ? destination : '/portal/logout?confirm=account');
    expect(await signedInAs(portal, browser.cookies)).toBe(here);
  },
);

it('SE-15 nor does one without a password lead where it was to lead', async () => {
  const open = await formShown();
  const again = async () =>
    (await post({ ...open, password: '' })).body.includes(`destination=${encodeURIComponent(destination)}`);
  expect(await again()).toBe(true);
  await post(await formShown());
  await signOut();
  expect(await again()).toBe(false);
});

it('posted again in its own turn it signs in', async () => {
  await post(await formShown());
  await signOut();
  const form = await formShown();
  expect((await post({ ...form, password: 'wrong' })).headers.location).toContain('/loginfail/default');
  expect((await post(form)).headers.location).toBe(destination);
});

it('a form that says nothing of it signs in', async () => {
  await post({});
  await signOut();
  expect((await post({})).headers.location).toBe('/portal/portal.html');
});

it.each(['sign-in', 'second-factor'] as const)(
  'SE-15 nor does the answer of a passkey that was on its way, to %s',
  async (kind) => {
    const passkey = await givePasskey(portal, 'alice');
    const failed = await formShown();
    const credential = assertionOf(passkey, { challenge: await challengeFor(browser, kind) });
    const token = browser.cookies['vestibule-passkey'] ?? '';
    expect(token).not.toBe('');
    await post(await formShown());
    await signOut();
    expect(browser.cookies).not.toHaveProperty('vestibule-passkey');
    await portal.sql`delete from audit_event`;
    // As if the browser had kept it.
    browser.cookies['vestibule-passkey'] = token;
    const again = await postAssertion(browser, credential, failed, { kind });
    expect(again.headers.location).toBe('/portal/login?notice=signInExpired');
    expect(await signedInAs(portal, browser.cookies)).toBeNull();
    expect(await events()).toEqual([]);
  },
);

it('SE-15 nor does that of a passkey after a session that has expired', async () => {
  const passkey = await givePasskey(portal, 'alice');
  const failed = await formShown();
  await post(await formShown());
  portal.wait(portal.deps.config.sessionIdle);
  const credential = assertionOf(passkey, { challenge: await challengeFor(browser) });
  const again = await postAssertion(browser, credential, failed);
  expect(again.headers.location).toContain('notice=signInExpired');
  expect(await signedInAs(portal, browser.cookies)).toBeNull();
});

it('the answer of a passkey in its own turn signs in', async () => {
  const passkey = await givePasskey(portal, 'alice');
  await post(await formShown());
  await signOut();
  const credential = assertionOf(passkey, { challenge: await challengeFor(browser) });
  expect((await postAssertion(browser, credential, await formShown())).headers.location).toBe(destination);
});
