import type { Response } from 'light-my-request';
import { beforeEach, expect, it } from 'vitest';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { emptyDatabase } from '#testing/empty-tables.ts';
import { startForgedProvider } from '#testing/forged-openid-provider.ts';
import { logoutToken, postLogoutToken } from '#testing/logout-token.ts';
import { testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { sharedByFile } from '#testing/shared-by-file.ts';
import { signedInAs } from '#testing/signed-in-as.ts';
import { addOidcConnection, type BrowserForTest, browserForTest, departFor, pathOf } from '#testing/sso-for-test.ts';
import { codeByMail, verifyUrl } from '#testing/two-factor-for-test.ts';

// Somebody who is signed in signs in once more, and that sign-in still waits for a code: the full session is gone, and its
// user may leave, or be signed out by the provider, before the code.

const portal = portalOfFile();
const provider = sharedByFile(() => startForgedProvider(portal.deps));
let browser: BrowserForTest;
beforeEach(async () => {
  await emptyDatabase(portal);
  await addCustomer(portal, 'acme');
  for (const username of ['alice', 'bob']) await addUser(portal, { username });
  await addOidcConnection(portal, provider);
  await addOidcConnection(portal, provider, { key: 'other-oidc', domains: ['other.test'] });
  browser = browserForTest(portal);
  provider.bend({ claims: (honest) => ({ ...honest, sub: 'alice', email: 'alice@acme.test', email_verified: true }) });
  await byProvider();
  expect(await signedInAs(portal, browser.cookies)).toBe('alice');
  await portal.sql`update customer set two_factor = 'email'`;
});

const byProvider = async () => await browser.get(pathOf(provider.visit(await departFor(browser))));
const byPassword = async (username = 'alice') =>
  await browser.post('/portal/performlogin', { username, password: testPassword });
const ways = [
  ['by password', byPassword],
  ['through the provider', byProvider],
] as const;
const signOut = async () => await browser.post('/portal/logout', {});
const wayOut = (answer: Response) => {
  const at = /http-equiv="refresh" content="0;url=([^"?]+)/.exec(answer.body)?.[1];
  return at === undefined ? null : { at, hasProof: answer.body.includes('id_token_hint') };
};
const isTurnOver = () => [
  browser.cookies['vestibule-signed-out'] !== undefined,
  browser.cookies['vestibule-afresh'] !== undefined,
];
const logoutByProvider = async () => {
  const token = await logoutToken(portal, provider, { sub: 'alice' });
  expect((await postLogoutToken(portal, token)).statusCode).toBe(200);
};

it.each(ways)(
  'SE-15 a sign-out before the code of a second sign-in %s ends the turn, also at the provider',
  async (_, signIn) => {
    expect((await signIn()).headers.location).toContain('/twoFactor');
    const held = { ...browser.cookies };
    const there = { at: `${provider.issuer}/end`, hasProof: true };
    expect(wayOut(await signOut())).toEqual(there);
    expect(isTurnOver()).toEqual([true, true]);
    // Pressed twice.
    expect(wayOut(await portal.send({ method: 'POST', url: '/portal/logout', cookies: held }))).toEqual(there);
  },
);

it.each([
  ['pressed twice', 200],
  ['pressed again because the response was lost', 5000],
])('SE-15 also if the button of the second sign-in was %s', async (_, later) => {
  const before = { ...browser.cookies };
  const form = { username: 'alice', password: testPassword };
  await portal.send({ method: 'POST', url: '/portal/performlogin', form, cookies: before });
  portal.wait(later);
  await byPassword();
  expect(wayOut(await signOut())).toEqual({ at: `${provider.issuer}/end`, hasProof: true });
  expect(isTurnOver()).toEqual([true, true]);
});

it('SE-15 also if the first press needed no code', async () => {
  const before = { ...browser.cookies };
  const form = { username: 'alice', password: testPassword };
  await portal.sql`update customer set two_factor = 'off'`;
  await portal.send({ method: 'POST', url: '/portal/performlogin', form, cookies: before });
  await portal.sql`update customer set two_factor = 'email'`;
  expect((await byPassword()).headers.location).toContain('/twoFactor');
  await signOut();
  expect(isTurnOver()).toEqual([true, true]);
  expect(await portal.sql`select from session`).toHaveLength(0);
});

it('SE-15 also at the provider, if its button was pressed twice', async () => {
  const [first, second] = [await departFor(browser), await departFor(browser)];
  const before = { ...browser.cookies };
  await browser.get(pathOf(provider.visit(first)));
  browser.cookies = { ...browser.cookies, ...before };
  await browser.get(pathOf(provider.visit(second)));
  expect(wayOut(await signOut())).toEqual({ at: `${provider.issuer}/end`, hasProof: true });
});

it('SE-15 the link away from its code says nothing of the destination, which is not for the next person', async () => {
  const form = { username: 'alice', password: testPassword, redirectURL: '/portal/portal.html?report=7' };
  const { headers } = await browser.post('/portal/performlogin', form);
  const { body } = await browser.get(String(headers.location));
  expect(/href="(\/portal\/logout[^"]*)"/.exec(body)?.[1]).toBe('/portal/logout');
});

it('the token from before a code ends the session, and proves nothing to the provider: it may be a copy', async () => {
  await signOut();
  await byProvider();
  const copy = { ...browser.cookies };
  await browser.post(verifyUrl, { code: await codeByMail(portal, 'alice') });
  expect(await signedInAs(portal, browser.cookies)).toBe('alice');
  const out = await portal.send({ method: 'POST', url: '/portal/logout', form: {}, cookies: copy });
  expect(wayOut(out)).toEqual({ at: `${provider.issuer}/end`, hasProof: false });
  expect(await signedInAs(portal, browser.cookies)).toBeNull();
});

it('SE-15 also after a third sign-in', async () => {
  await byPassword();
  portal.wait(60_000);
  await byPassword();
  expect(wayOut(await signOut())?.hasProof).toBe(true);
  expect(isTurnOver()).toEqual([true, true]);
});

it('SE-15 also if its response is lost', async () => {
  await byPassword();
  await portal.send({ method: 'POST', url: '/portal/logout', cookies: { ...browser.cookies } });
  await browser.get('/portal/login');
  expect(isTurnOver()).toEqual([true, true]);
});

it('SE-15 a second sign-in of somebody else hands on the turn, and not the proof for the provider', async () => {
  await byPassword('bob');
  expect(wayOut(await signOut())).toEqual({ at: `${provider.issuer}/end`, hasProof: false });
  expect(isTurnOver()).toEqual([true, true]);
});

it('a second factor that is abandoned after the session had expired is no sign-out', async () => {
  portal.wait(portal.deps.config.sessionIdle);
  await byPassword();
  expect(wayOut(await signOut())).toBeNull();
  expect(isTurnOver()).toEqual([false, true]);
});

it.each(['read', 'lost'])(
  'SE-15 a provider’s logout before the code of a second sign-in there ends the turn, if the response was %s',
  async (response) => {
    const before = { ...browser.cookies };
    expect((await byProvider()).headers.location).toContain('/twoFactor');
    if (response === 'lost') browser.cookies = before;
    portal.wait(90_000);
    await logoutByProvider();
    await browser.get('/portal/login');
    expect(isTurnOver()).toEqual([true, true]);
    const asked = new URL(await departFor(browser, 'bob@other.test'));
    expect(asked.searchParams.get('prompt')).toBe('login');
  },
);

it('a provider’s logout of one person is none of somebody else who has just given their password', async () => {
  await byPassword('bob');
  await logoutByProvider();
  expect(await portal.sql`select from session`).toHaveLength(1);
});
