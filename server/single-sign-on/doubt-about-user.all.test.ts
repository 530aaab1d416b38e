import { beforeAll, beforeEach, expect, it } from 'vitest';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { emptyDatabase } from '#testing/empty-tables.ts';
import { startForgedProvider } from '#testing/forged-openid-provider.ts';
import { testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import {
  addSamlConnection,
  crossSite,
  postSamlAnswer,
  type SamlProviderForTest,
  samlAnswer,
  samlProvider,
  samlRequestAt,
} from '#testing/saml-sign-in-for-test.ts';
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

// Whoever copies the address of a visit at the provider can sign in there as themselves, and have the visitor's browser
// bring that answer (docs/decisions/0029).

const portal = portalOfFile();
const provider = sharedByFile(() => startForgedProvider(portal.deps));
let saml: SamlProviderForTest;
let browser: BrowserForTest;
beforeAll(async () => {
  saml = await samlProvider('idp.acme.test', portal.deps.now());
});
beforeEach(async () => {
  await emptyDatabase(portal);
  await addCustomer(portal, 'acme');
  for (const username of ['alice', 'mallory']) await addUser(portal, { username });
  browser = browserForTest(portal);
});

const question = /^\/portal\/authenticate\/other-account\?request=[\w-]{36}$/;
const who = async () => await signedInAs(portal, browser.cookies);

async function answerBy(protocol: 'oidc' | 'saml', address: string, username: string, email = `${username}@acme.test`) {
  if (protocol === 'saml') {
    const answer = samlAnswer(portal, saml, samlRequestAt(address), { nameId: username, email });
    const posted = await postSamlAnswer(portal, browser, answer);
    return String((await browser.get(String(posted.headers.location), crossSite)).headers.location);
  }
  provider.bend({ claims: (honest) => ({ ...honest, sub: username, email, email_verified: true }) });
  return String((await browser.get(pathOf(provider.visit(address)), crossSite)).headers.location);
}

async function connect(protocol: 'oidc' | 'saml'): Promise<void> {
  if (protocol === 'oidc') await addOidcConnection(portal, provider);
  else await addSamlConnection(portal, saml);
}

it.each(['oidc', 'saml'] as const)(
  'SA-42 an answer by %s for somebody who did not type their name asks first',
  async (protocol) => {
    await connect(protocol);
    const address = await departFor(browser, 'alice@acme.test', { redirectURL: '/portal/reports' });
    const location = await answerBy(protocol, address, 'mallory');
    expect(location).toMatch(question);
    expect(await who()).toBeNull();
    expect((await browser.get(location)).body).toMatch(/Is this your account\?.*mallory/s);
    const [event] = await portal.sql`select username, steps from audit_event where event = 'account-change-asked'`;
    const steps = [
      { step: 'signed in here', outcome: 'nobody' },
      { step: 'this visit', outcome: 'another address was typed' },
    ];
    expect(event).toEqual({ username: 'mallory', steps });
  },
);

const pressButton = async () =>
  await followLeavePage(browser, await browser.post('/portal/authenticate/checkSsoLogin', {}));

it.each(['oidc', 'saml'] as const)('who goes on signs in, and is not asked by the button, by %s', async (protocol) => {
  await connect(protocol);
  const location = await answerBy(protocol, await departFor(browser, 'alias@acme.test'), 'alice');
  await browser.post('/portal/authenticate/other-account', { request: location.slice(-36) });
  expect(await who()).toBe('alice');
  delete browser.cookies['vestibule-session'];
  await answerBy(protocol, await pressButton(), 'alice');
  expect(await who()).toBe('alice');
});

it('nobody is asked who typed an address of theirs, the portal’s or the provider’s, in any spelling', async () => {
  await connect('oidc');
  await answerBy('oidc', await departFor(browser, 'Alice@ACME.test'), 'alice');
  expect(await who()).toBe('alice');
  browser = browserForTest(portal);
  await answerBy('oidc', await departFor(browser, 'alice.married@acme.test'), 'alice', 'alice.married@acme.test');
  expect(await who()).toBe('alice');
});

it('an address that the provider tells and does not vouch for is nobody’s', async () => {
  await connect('oidc');
  await answerBy('oidc', await departFor(browser, 'mallory@acme.test'), 'mallory');
  browser = browserForTest(portal);
  const address = await departFor(browser, 'alice@acme.test');
  const claims = { sub: 'mallory', email: 'alice@acme.test', email_verified: false };
  provider.bend({ claims: (honest) => ({ ...honest, ...claims }) });
  expect((await browser.get(pathOf(provider.visit(address)))).headers.location).toMatch(question);
});

it('SE-15 whoever has signed in in this browser before is asked, too, if another name was typed', async () => {
  await connect('oidc');
  await browser.post('/portal/performlogin', { username: 'mallory', password: testPassword });
  delete browser.cookies['vestibule-session'];
  // The provider’s session is still Mallory’s. Nobody learns whether there is a user by the name that was typed.
  for (const typed of ['alice@acme.test', 'nobody@acme.test'])
    expect(await answerBy('oidc', await departFor(browser, typed), 'mallory')).toMatch(question);
  expect(await who()).toBeNull();
});

it('where nothing was typed, by the button of an earlier sign-in, somebody new is asked too', async () => {
  await connect('oidc');
  await answerBy('oidc', await departFor(browser), 'alice');
  delete browser.cookies['vestibule-session'];
  expect(await answerBy('oidc', await pressButton(), 'mallory')).toMatch(question);
  expect(await who()).toBeNull();
  await answerBy('oidc', await pressButton(), 'alice');
  expect(await who()).toBe('alice');
});

it('the button of an earlier sign-in whose device the browser has lost is no page of the provider', async () => {
  await connect('oidc');
  await answerBy('oidc', await departFor(browser), 'alice');
  for (const name of ['session', 'device']) delete browser.cookies[`vestibule-${name}`];
  expect(await answerBy('oidc', await pressButton(), 'mallory')).toMatch(question);
  expect(await who()).toBeNull();
});

it('but nobody is asked twice who comes from the provider to a new browser', async () => {
  await addSamlConnection(portal, saml, { mayBegin: true });
  const begun = await postSamlAnswer(portal, browser, samlAnswer(portal, saml, null));
  const page = await browser.get(String(begun.headers.location), crossSite);
  expect(page.headers.location).toBe('/portal/authenticate/continue?connection=acme-saml');
  const address = await followLeavePage(
    browser,
    await browser.post('/portal/authenticate/continue', { connection: 'acme-saml' }),
  );
  await answerBy('saml', address, 'alice');
  expect(await who()).toBe('alice');
});
