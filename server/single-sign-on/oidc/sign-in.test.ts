import { beforeEach, describe, expect, it } from 'vitest';
import { startForgedProvider } from '#test/providers/forged-openid-provider.ts';
import { addCustomer, addUser, signedInAs } from '#test/support/accounts-for-test.ts';
import { otherInstanceOfFile, portalOfFile, sharedByFile } from '#test/support/portal-of-file.ts';
import { emptyDatabase } from '#test/support/rows-for-test.ts';
import {
  addOidcConnection,
  type BrowserForTest,
  browserForTest,
  departFor,
  lastFailure,
  pathOf,
  signInByOidc,
} from '#test/support/sso-for-test.ts';

const portal = portalOfFile();
const second = otherInstanceOfFile(portal);
const acme = sharedByFile(() => startForgedProvider(portal.deps));

let browser: BrowserForTest;
beforeEach(async () => {
  await emptyDatabase(portal);
  await addCustomer(portal, 'acme');
  await addCustomer(portal, 'beta');
  await addUser(portal, { username: 'alice' });
  await addUser(portal, { username: 'bob', email: 'bob@beta.test', customers: ['beta'] });
  await addOidcConnection(portal, acme);
  browser = browserForTest(portal);
});

const failed = /^\/portal\/loginfail\/oidc(?:[?#]|$)/;
const says = (claims: object) => ({ claims: (honest: object) => ({ ...honest, email: 'alice@acme.test', ...claims }) });
/** Signs in at the provider, which says this of the person; returns where that leads. */
async function signIn(claims: object = {}, form?: Record<string, string>): Promise<string> {
  acme.bend(says(claims));
  return await signInByOidc(acme, browser, undefined, form);
}
const reason = async () => (await lastFailure(portal))?.reason;
async function expectRefused(location: string, why: string): Promise<void> {
  expect(location).toMatch(failed);
  expect(await reason()).toBe(why);
  expect(await portal.sql`select from session where stage = 'full'`).toHaveLength(0);
}
const set = (settings: string) => portal.sql.unsafe(`update sso_connection set ${settings}`);

it('leads to the destination, including the fragment, in a session of the connection’s customer alone', async () => {
  await portal.sql`insert into membership select u.id, c.id from portal_user u, customer c where username = 'alice' and key = 'beta'`;
  expect(await signIn({}, { redirectURL: '/portal#/reports/7' })).toBe('/portal#/reports/7');
  const session = await browser.get('/portal/session', { headers: { accept: 'application/json' } });
  expect(session.json()).toMatchObject({ username: 'alice', customers: ['acme'] });
  const [event] =
    await portal.sql`select connection, customer_key, username from audit_event where event = 'signed-in'`;
  expect(event).toEqual({ connection: 'acme-oidc', customer_key: 'acme', username: 'alice' });
});

it('a sign-out leads to the provider, to end its session as well', async () => {
  await signIn();
  const { body } = await browser.post('/portal/logout', {});
  expect(body).toContain(`${acme.issuer}/end?`);
  expect(body).toContain('id_token_hint=');
  expect((await browser.get('/portal/session')).statusCode).toBe(401);
});

describe('a provider that refuses', () => {
  const refuses = (error: string, description = '') =>
    acme.bend({
      callback: (parameters) => {
        parameters.delete('code');
        parameters.set('error', error);
        parameters.set('error_description', description);
      },
    });

  it.each(['access_denied', 'consent_required'])('whoever presses cancel (%s) hears of no typo', async (error) => {
    refuses(error);
    const location = await signInByOidc(acme, browser, undefined, { redirectURL: '/portal/reports' });
    expect(location).toBe('/portal/loginfail/oidc?notice=signInCancelled&destination=%2Fportal%2Freports');
    const { body } = await browser.get(location);
    expect(body).toContain('It was cancelled, or access wasn’t granted there.');
    expect(body).toContain('href="/portal/singleSignOn');
    expect(body).not.toContain('typo');
    expect(await reason()).toBe('provider-refused');
  });

  it('by another error shows what may be wrong', async () => {
    refuses('server_error');
    expect(await signInByOidc(acme, browser)).toBe('/portal/loginfail/oidc');
    expect((await browser.get('/portal/loginfail/oidc')).body).toContain('typo');
  });

  it('OI-23 its words are only in the steps, and harmless there', async () => {
    refuses('access_denied', '<script>alert(1)</script>\u001b[2J');
    const { body } = await browser.get(await signInByOidc(acme, browser));
    expect(body).not.toMatch(/alert\(1\)|access_denied/);
    const words = (await lastFailure(portal))?.steps.map(({ outcome }) => outcome).join();
    expect(words).toContain('access_denied');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that none is left is what is tested
    expect(words).not.toMatch(/[\u0000-\u001f]/);
  });
});

describe('whom a provider may speak for', () => {
  it('OI-16 an address of another domain, or of another customer’s user, signs in nobody, and it is recorded', async () => {
    await expectRefused(await signIn({ email: 'bob@beta.test' }), 'foreign-domain');
    await addUser(portal, { username: 'mallory', email: 'mallory@acme.test', customers: ['beta'] });
    await expectRefused(await signIn({ email: 'mallory@acme.test' }), 'unknown-user');
  });

  it('OI-17 an unverified address links nobody, unless the operator trusts the provider', async () => {
    for (const email_verified of [false, undefined, 'yes'])
      await expectRefused(await signIn({ email_verified }), 'unverified-email');
    await set('trusts_email = true');
    expect(await signIn({ email_verified: false })).toBe('/portal/portal.html');
  });

  it.each([
    'alice@acme.test@acme.test',
    'alice＠acme.test',
    'alice@acme.test.',
    ' alice@acme.test',
    'alice@ａcme.test',
    'alice@acme.test\u200b',
    'ａlice@acme.test',
    '"alice"@acme.test',
    'alice@acme.test,bob@beta.test',
  ])('OI-18 the ambiguous address %j finds nobody', async (email) => {
    expect(await signIn({ email })).toMatch(failed);
    expect(await reason()).toMatch(/^(?:unknown-user|foreign-domain)$/);
  });

  it('OI-18 upper case finds only the same person, as on the sign-in form', async () => {
    expect(await signIn({ email: 'Alice@ACME.test' })).toBe('/portal/portal.html');
    expect(await signedInAs(portal, browser.cookies)).toBe('alice');
  });

  it('OI-19 the preferred name of a stranger is never looked up', async () => {
    await addUser(portal, { username: 'admin', email: 'root@acme.test' });
    const stranger = { sub: 'x', email: undefined, preferred_username: 'admin' };
    acme.bend({ ...says(stranger), userInfo: () => stranger });
    await expectRefused(await signInByOidc(acme, browser), 'unknown-user');
  });

  it('SA-45 an address that is someone’s username finds nobody, and of several none is used', async () => {
    await addUser(portal, { username: 'boss@acme.test', email: 'carol@acme.test' });
    await expectRefused(await signIn({ sub: 'b', email: 'boss@acme.test' }), 'unknown-user');
    expect(JSON.stringify((await lastFailure(portal))?.steps)).toContain('is the username of boss@acme.test');
    await expectRefused(await signIn({ sub: 'b', email: ['alice@acme.test', 'boss@acme.test'] }), 'unknown-user');
    expect((await lastFailure(portal))?.steps.at(-1)?.outcome).toContain('sends several email addresses');
  });

  it('OI-20 the subject of a removed user finds nobody', async () => {
    await signIn();
    await portal.sql`delete from portal_user where username = 'alice'`;
    await expectRefused(await signIn(), 'unknown-user');
    const id = await addUser(portal, { username: 'alice' });
    await signIn();
    expect(await portal.sql`select user_id from session`).toEqual([{ user_id: id }]);
  });

  it('OI-17 once linked, the subject counts: a new address changes nothing, a new subject is refused', async () => {
    await signIn();
    await portal.sql`delete from session`;
    expect(await signIn({ email: 'new-name@acme.test' })).toBe('/portal/portal.html');
    await portal.sql`delete from session`;
    await expectRefused(await signIn({ sub: 'somebody new' }), 'other-subject');
  });
});

describe('a person without a user', () => {
  const carol = { sub: 'new', email: 'carol@acme.test', locale: 'de-AT' };
  const users = () => portal.sql`select username, email, language, password_hash, may_change_password from portal_user
    where email = 'carol@acme.test'`;

  it('ends on the failure page with a reference, or gets one if the connection allows', async () => {
    const location = await signIn(carol);
    await expectRefused(location, 'unknown-user');
    expect((await browser.get(location)).body).toMatch(/[0-9A-Z]{4}-[0-9A-Z]{4}/);
    await set('makes_users = true');
    expect(await signIn(carol)).toBe('/portal/portal.html');
    const made = { username: carol.email, email: carol.email, language: 'de' };
    expect(await users()).toEqual([{ ...made, password_hash: null, may_change_password: false }]);
  });

  it('concurrent first sign-ins of one person all succeed, whether the user is new or exists', async () => {
    for (const [makesUsers, email] of [
      [true, 'carol@acme.test'],
      [false, 'alice@acme.test'],
    ] as const) {
      await set(`makes_users = ${makesUsers}`);
      acme.bend(says({ sub: `subject of ${email}`, email }));
      const tabs = Array.from({ length: 6 }, (_, n) => browserForTest(n % 2 ? portal : second));
      const callbacks = await Promise.all(tabs.map(async (tab) => pathOf(acme.visit(await departFor(tab, email)))));
      const answers = await Promise.all(tabs.map((tab, at) => tab.get(callbacks[at] ?? '')));
      expect(answers.map(({ headers }) => headers.location)).toEqual(Array(6).fill('/portal/portal.html'));
      expect(await portal.sql`select from portal_user where email = ${email}`).toHaveLength(1);
    }
  });

  it('never gets another’s name, and is not created if the sign-in is refused', async () => {
    await set(`makes_users = true, attributes = '{"username":"nick"}'`);
    await expectRefused(await signIn({ ...carol, nick: 'bob' }), 'name-taken');
    await portal.sql`update customer set allowed_networks = '{10.0.0.0/8}' where key = 'acme'`;
    expect(await signIn({ ...carol, nick: 'carol' })).toBe('/portal/loginfail/ip?ipaddress=198.51.100.7');
    expect(await users()).toEqual([]);
  });

  it('OI-33 is never named by an address outside the connection’s domains', async () => {
    await set(`makes_users = true, attributes = '{"username":"nick"}'`);
    for (const nick of ['DORA@Beta.test', 'dora@nowhere.test', 'dora@sub.acme.test', 'dora@acme.test.beta.test'])
      await expectRefused(await signIn({ ...carol, nick }), 'foreign-domain');
    expect(await users()).toEqual([]);
    expect(await signIn({ ...carol, nick: 'Carol.Smith@ACME.test' })).toBe('/portal/portal.html');
  });
});

describe('the rules of a password sign-in', () => {
  it('SA-31 an inactive user is refused, and whoever returns to a disabled customer or connection', async () => {
    await portal.sql`update portal_user set active = false`;
    await expectRefused(await signIn(), 'inactive');
    await portal.sql`update portal_user set active = true`;
    for (const table of ['customer', 'sso_connection']) {
      const callback = acme.visit(await departFor(browser));
      await portal.sql`update ${portal.sql(table)} set active = false`;
      await expectRefused(String((await browser.get(pathOf(callback))).headers.location), 'connection-disabled');
      await portal.sql`update ${portal.sql(table)} set active = true`;
    }
  });

  it('IP-14 an address that the customer does not admit is refused, and shown to the visitor', async () => {
    await portal.sql`update customer set allowed_networks = '{203.0.113.0/24}'`;
    expect(await signIn()).toBe('/portal/loginfail/ip?ipaddress=198.51.100.7');
    expect([await reason(), await portal.sql`select from session`]).toEqual(['network', []]);
  });

  it('OI-22 a required second factor is asked for here if the provider reports none', async () => {
    await portal.sql`update customer set two_factor = 'app'`;
    const location = await signIn({}, { redirectURL: '/portal/reports' });
    expect(location).toBe('/portal/twoFactorRegistration?redirectURL=%2Fportal%2Freports');
    await portal.sql`update customer set two_factor = 'email'`;
    expect(await signIn()).toContain('codeSentViaEmail=true');
    await portal.workOff();
    expect(portal.mails.at(-1)?.recipient).toBe('alice@acme.test');
    expect(await portal.sql`select from session where stage = 'full'`).toHaveLength(0);
  });

  it('OI-22 a second factor reported by the provider counts only if the operator lists it', async () => {
    await portal.sql`update customer set two_factor = 'app'`;
    expect(await signIn({ amr: ['pwd', 'mfa'], acr: 'low' })).toContain('/twoFactorRegistration');
    await set("second_factor_values = '{mfa}'");
    expect(await signIn({ amr: ['pwd', 'mfa'] })).toBe('/portal/portal.html');
    expect(await signIn({ amr: ['pwd'] })).toContain('/twoFactorRegistration');
  });
});
