import { beforeEach, describe, expect, it } from 'vitest';
import { startForgedProvider } from '#test/providers/forged-openid-provider.ts';
import { accountEvents, postAccount, signedIn, startAccountAfresh } from '#test/support/account-page-for-test.ts';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { givePasskey, signInWithPasskey } from '#test/support/passkey-sign-in-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { addOidcConnection, browserForTest, departFor, pathOf } from '#test/support/sso-for-test.ts';
import {
  type Browser,
  codeByMail,
  codeNow,
  giveApp,
  halfSession,
  registrationUrl,
  verify,
  verifyByForm,
} from '#test/support/two-factor-for-test.ts';

// A proof on the account page sets up no app where a sign-in would ask for more.

const portal = portalOfFile();
beforeEach(async () => {
  await startAccountAfresh(portal);
  await addCustomer(portal, 'mail', { twoFactor: 'email' });
  await addUser(portal, { username: 'carol', customers: ['mail'] });
});

const minute = 60_000;

/** Signed in with a code by email. */
async function withEmailCode(): Promise<Browser> {
  const half = await halfSession(portal, 'carol');
  return { ...half, ...cookiesOf(await verify(portal, await codeByMail(portal, 'carol'), half)) };
}

const registrationOf = async (cookies: Browser) => (await portal.send({ url: registrationUrl, cookies })).statusCode;

describe('MF-12 the password, typed again on the account page', () => {
  it('MF-12 sets up no app where codes by email are required: it is not asked for, and not taken', async () => {
    const cookies = await withEmailCode();
    portal.wait(11 * minute);
    const page = await portal.send({ url: '/portal/account/app?do=setUp', cookies });
    expect([page.body.includes('name="password"'), page.body.includes('/portal/logout')]).toEqual([false, true]);
    const form = { do: 'prove', for: 'setUp', password: testPassword };
    const answer = await postAccount(portal, 'app', form, cookies);
    expect(answer.headers.location).toContain('notice=notPossible');
    expect(await registrationOf({ ...cookies, ...cookiesOf(answer) })).toBe(409);
    expect(await accountEvents(portal)).not.toContain('fresh-proof-given');
  });

  it('MF-12 confirms no app once codes by email are required, though it was typed before', async () => {
    const before = await signedIn(portal, 'alice');
    portal.wait(11 * minute);
    const form = { do: 'prove', for: 'setUp', password: testPassword };
    const cookies = { ...before, ...cookiesOf(await postAccount(portal, 'app', form, before)) };
    const { totpSecret } = (await portal.send({ url: registrationUrl, cookies })).json<{ totpSecret: string }>();
    await portal.sql`update customer set two_factor = 'email' where key = 'acme'`;
    await verifyByForm(portal, { code: codeNow(portal, totpSecret) }, cookies);
    expect(await portal.sql`select from totp`).toHaveLength(0);
    expect(await registrationOf(cookies)).toBe(409);
  });
});

it('MF-12 in a session that a passkey opened the password proves nothing: it adds neither app nor passkey', async () => {
  await addCustomer(portal, 'app', { twoFactor: 'app' });
  await addUser(portal, { username: 'gwen', customers: ['app'] });
  const passkey = await givePasskey(portal, 'gwen');
  const browser = browserForTest(portal);
  await signInWithPasskey(browser, passkey);
  portal.wait(11 * minute);
  for (const begun of ['/portal/account/app?do=setUp', '/portal/account/passkeys?do=enrol']) {
    const { body } = await browser.get(begun);
    expect([body.includes('name="password"'), body.includes('/portal/logout')]).toEqual([false, true]);
  }
  const form = { do: 'prove', for: 'setUp', password: testPassword };
  const answer = await postAccount(portal, 'app', form, browser.cookies);
  expect(answer.headers.location).toContain('notice=notPossible');
  expect(await registrationOf(browser.cookies)).toBe(409);
  const options = { method: 'POST' as const, headers: { accept: 'application/json' } };
  expect((await browser.get('/portal/passkeys/enrol/options', options)).statusCode).toBe(409);
});

it('MF-12 a passkey does not change the app of a customer that takes none: it would open that customer', async () => {
  await portal.sql`insert into customer (key, name, created_at, two_factor, passkeys) values ('stern', 'Stern', now(), 'app', 'off')`;
  await addUser(portal, { username: 'hugo', customers: ['acme', 'stern'] });
  const secret = await giveApp(portal, 'hugo');
  const browser = browserForTest(portal);
  await signInWithPasskey(browser, await givePasskey(portal, 'hugo'));
  await postAccount(portal, 'app', { do: 'replace' }, browser.cookies);
  expect(await accountEvents(portal)).toEqual(['account-change-refused no-fresh-proof']);
  const form = { do: 'prove', for: 'replace', code: codeNow(portal, secret) };
  const answer = await postAccount(portal, 'app', form, browser.cookies);
  expect(answer.headers.location).toContain('notice=proven');
});

const setUp = '/portal/account/app?do=setUp';

it('MF-12 the sign-in that leads to setting up an app asks for the code that a remembered device would spare', async () => {
  const half = await halfSession(portal, 'carol');
  const first = await verify(portal, await codeByMail(portal, 'carol'), half, { query: '?remember=true' });
  const cookies = { 'vestibule-remembered': cookiesOf(first)['vestibule-remembered'] ?? '' };
  const landing = async (redirectURL: string) => {
    const form = { username: 'carol', password: testPassword, redirectURL };
    return (await portal.signIn('carol', testPassword, { form, cookies })).headers.location;
  };
  expect(await landing(setUp)).toContain('/twoFactor');
  expect(await landing('/portal/account/app')).toBe('/portal/account/app');
});

it('a person of a provider who signs in again is asked there afresh, and comes back to what they began', async () => {
  const provider = await startForgedProvider(portal.deps);
  provider.bend({ claims: (honest) => ({ ...honest, sub: 'subject of alice', email: 'alice@acme.test' }) });
  await portal.sql`update portal_user set password_hash = null where username = 'alice'`;
  await addOidcConnection(portal, provider);
  const browser = browserForTest(portal);
  await browser.get(pathOf(provider.visit(await departFor(browser))));
  const { statusCode, headers } = await browser.post(`/portal/logout?destination=${encodeURIComponent(setUp)}`, {});
  expect([statusCode, headers.location]).toEqual([303, `/portal/login?destination=${encodeURIComponent(setUp)}`]);
  const visit = new URL(await departFor(browser, undefined, { redirectURL: setUp }));
  expect(visit.searchParams.getAll('prompt')).toEqual(['login']);
  expect((await browser.get(pathOf(provider.visit(String(visit))))).headers.location).toBe(setUp);
  await provider.close();
});
