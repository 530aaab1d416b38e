import { describe, expect, it } from 'vitest';
import { limits } from '#server/limits.ts';
import { findUser, listUsers } from '#server/people/portal-user.ts';
import { startForgedProvider } from '#test/providers/forged-openid-provider.ts';
import { addUser, signedInAs } from '#test/support/accounts-for-test.ts';
import { otherInstanceOfFile, sharedByFile } from '#test/support/portal-of-file.ts';
import {
  acs,
  addSamlConnection,
  crossSite,
  postSamlAnswer,
  samlAnswer,
  samlProviderOfFile,
  samlRequestAt,
  signInBySaml,
} from '#test/support/saml-for-test.ts';
import {
  addOidcConnection,
  type BrowserForTest,
  browserForTest,
  departFor,
  lastFailure,
  pathOf,
  signInByOidc,
} from '#test/support/sso-for-test.ts';
import { ssoOfFile } from '#test/support/sso-of-file.ts';

let browser: BrowserForTest;
const { portal, reason } = ssoOfFile({
  people: ['alice', { username: 'bob', email: 'bob@beta.test', customers: ['beta'] }],
  also: (portal) => {
    browser = browserForTest(portal);
  },
});
const second = otherInstanceOfFile(portal);
const op = sharedByFile(() => startForgedProvider(portal.deps));
const idp = samlProviderOfFile(portal, 'idp.acme.test');

const says = (claims: object) => ({ claims: (honest: object) => ({ ...honest, email: 'alice@acme.test', ...claims }) });
type Protocol = 'oidc' | 'saml';
/** What a provider says of a person: the subject, and the address. */
type Person = { sub?: string; email?: string };
let protocol: Protocol;
async function connect(by: Protocol): Promise<void> {
  protocol = by;
  await (by === 'oidc' ? addOidcConnection(portal, op) : addSamlConnection(portal, idp));
}
/** Signs in at the provider, which says this of the person; returns where that leads. */
async function signIn(person: Person & Record<string, unknown> = {}, form: Record<string, string> = {}) {
  if (protocol === 'oidc') {
    op.bend(says(person));
    return await signInByOidc(op, browser, undefined, form);
  }
  const { email = 'alice@acme.test', sub = 'subject of alice', ...rest } = person;
  const more = rest as Record<string, string | string[]>;
  return await signInBySaml(portal, idp, browser, { typed: 'alice@acme.test', email, nameId: sub, more, form });
}
const set = (settings: string) => portal.sql.unsafe(`update sso_connection set ${settings}`);
async function expectRefused(location: string, why: string): Promise<void> {
  expect(location).toMatch(new RegExp(`^/portal/loginfail/${protocol}(?:[?#]|$)`));
  expect(await reason()).toBe(why);
  expect(await portal.sql`select from session where stage = 'full'`).toHaveLength(0);
}
const out = () => portal.sql`delete from session`;

describe.each<Protocol>(['oidc', 'saml'])('by %s', (by) => {
  it('SA-41 leads to the destination, including the fragment, in a session of the connection’s customer alone', async () => {
    await connect(by);
    await portal.sql`insert into membership select u.id, c.id from portal_user u, customer c where username = 'alice' and key = 'beta'`;
    expect(await signIn({}, { redirectURL: '/portal#/reports/7' })).toBe('/portal#/reports/7');
    const session = await browser.get('/portal/session', { headers: { accept: 'application/json' } });
    expect(session.json()).toMatchObject({ username: 'alice', customers: ['acme'] });
    const events =
      await portal.sql`select connection, customer_key, username from audit_event where event = 'signed-in'`;
    expect(events).toEqual([{ connection: `acme-${by}`, customer_key: 'acme', username: 'alice' }]);
  });

  it('takes over name and groups, within the connection’s customer only, where the operator maps them', async () => {
    await connect(by);
    const person = async () => (await findUser(portal.sql, 'alice')) ?? {};
    const groups = [' hr ', 'beta:admins', 'a, b', 'hr', 'x'.repeat(201)];
    await signIn({ fullName: 'Alice Arden', memberOf: groups });
    expect(await person()).toMatchObject({ name: null, groups: [] });
    await set(`attributes = '{"name":"fullName","groups":"memberOf"}'`);
    await signIn({ fullName: '  Arden, Alice', memberOf: groups });
    const taken = { name: 'Arden, Alice', groups: ['acme:a, b', 'acme:beta:admins', 'acme:hr'] };
    expect(await person()).toMatchObject(taken);
    const session = await browser.get('/portal/session', { headers: { accept: 'application/json' } });
    expect(session.json()).toMatchObject(taken);
    const many = Array.from({ length: 1000 }, (_, n) => `g${n}`);
    expect(await signIn({ memberOf: many })).toBe('/portal/portal.html');
    expect(await person()).toMatchObject({ name: 'Arden, Alice', groups: { length: 200 } });

    // Who belongs to another customer too is not theirs alone.
    await portal.sql`insert into membership select u.id, c.id, '{staff}' from portal_user u, customer c where username = 'alice' and key = 'beta'`;
    await signIn({ fullName: 'Root', memberOf: 'admins' });
    expect(await person()).toMatchObject({ name: 'Arden, Alice', groups: ['acme:admins', 'beta:staff'] });
    await signIn();
    expect(await person()).toMatchObject({ groups: ['beta:staff'] });
  });

  it('OI-16 SA-30 an address of another domain, or of another customer’s user, signs in nobody', async () => {
    await connect(by);
    await expectRefused(await signIn({ email: 'bob@beta.test' }), 'foreign-domain');
    await addUser(portal, { username: 'mallory', email: 'mallory@acme.test', customers: ['beta'] });
    await expectRefused(await signIn({ email: 'mallory@acme.test' }), 'unknown-user');
  });

  it('OI-17 OI-20 SA-40 once linked, the subject counts: a new address changes nothing, a new subject is refused', async () => {
    await connect(by);
    for (const email of ['alice@acme.test', 'new-name@acme.test'])
      expect(await signIn({ email })).toBe('/portal/portal.html');
    await out();
    await expectRefused(await signIn({ sub: 'somebody new' }), 'other-subject');
    await portal.sql`delete from portal_user where username = 'alice'`;
    await expectRefused(await signIn(), 'unknown-user');
  });

  it('SA-45 an address that is someone’s username finds nobody', async () => {
    await connect(by);
    await addUser(portal, { username: 'boss@acme.test', email: 'carol@acme.test' });
    await expectRefused(await signIn({ sub: 'b', email: 'boss@acme.test' }), 'unknown-user');
    expect(JSON.stringify((await lastFailure(portal))?.steps)).toContain('is the username of boss@acme.test');
  });

  it('SA-31 IP-14 OI-22 inactive users, networks and the second factor count as at a password sign-in', async () => {
    await connect(by);
    await portal.sql`update portal_user set active = false`;
    await expectRefused(await signIn(), 'inactive');
    await portal.sql`update portal_user set active = true`;
    await portal.sql`update customer set allowed_networks = '{203.0.113.0/24}'`;
    expect(await signIn()).toBe('/portal/loginfail/ip?ipaddress=198.51.100.7');
    expect([await reason(), await portal.sql`select from session`]).toEqual(['network', []]);
    await portal.sql`update customer set allowed_networks = '{}', two_factor = 'app'`;
    expect(await signIn({}, { redirectURL: '/portal/reports' })).toBe(
      '/portal/twoFactorRegistration?redirectURL=%2Fportal%2Freports',
    );
    await portal.sql`update customer set two_factor = 'email'`;
    expect(await signIn()).toContain('codeSentViaEmail=true');
    await portal.workOff();
    expect(portal.mails.at(-1)?.recipient).toBe('alice@acme.test');
  });

  it.each(['customer', 'sso_connection'])(
    'SA-31 a disabled %s lets nobody in who is at the provider',
    async (table) => {
      await connect(by);
      op.bend(says({}));
      const url = await departFor(browser);
      const answer = by === 'saml' ? samlAnswer(portal, idp, samlRequestAt(url)) : null;
      await portal.sql`update ${portal.sql(table)} set active = false`;
      const { headers } = answer
        ? await postSamlAnswer(portal, browser, answer)
        : await browser.get(pathOf(op.visit(url)));
      await expectRefused(String(headers.location), 'connection-disabled');
    },
  );
});

describe('an OpenID provider', () => {
  const refuses = (error: string, description = '') =>
    op.bend({
      callback: (parameters) => {
        parameters.delete('code');
        parameters.set('error', error);
        parameters.set('error_description', description);
      },
    });

  it('OI-23 that says the person cancelled: they hear of no typo, and its words are for the operator, harmless', async () => {
    await connect('oidc');
    refuses('access_denied', '<script>alert(1)</script>\u001b[2J');
    const location = await signInByOidc(op, browser, undefined, { redirectURL: '/portal/reports' });
    expect(location).toBe('/portal/loginfail/oidc?notice=signInCancelled&destination=%2Fportal%2Freports');
    const { body } = await browser.get(location);
    expect(body).toContain('It was cancelled, or access wasn’t granted there.');
    expect(body).not.toMatch(/typo|alert\(1\)|access_denied/);
    const words = (await lastFailure(portal))?.steps.map(({ outcome }) => outcome).join();
    expect(words).toMatch(/^access_denied[ -~]*$/);
  });

  it.each(['server_error', 'invalid_scope'])(
    'OI-23 that says %s: its fault, with the status, where it happened',
    async (error) => {
      await connect('oidc');
      refuses(error);
      const location = await signInByOidc(op, browser);
      expect(location).toBe('/portal/loginfail/oidc?notice=providerSilent');
      const { statusCode, body } = await browser.get(location);
      expect([statusCode, body]).toEqual([503, expect.stringContaining('It can’t be reached')]);
      expect(body).not.toContain('typo');
      expect((await portal.send({ url: location })).statusCode).toBe(200);
    },
  );

  it('who is nobody here: they may have mistyped, and the operator reads what the provider named, and the remedy', async () => {
    await connect('oidc');
    const location = await signIn({ sub: 'p-7', email: 'mia@acme.test' });
    expect(location).toBe('/portal/loginfail/oidc');
    expect((await browser.get(location)).body).toContain('typo');
    const steps = (await lastFailure(portal))?.steps.map(({ outcome }) => outcome);
    expect(steps).toEqual(['p-7 is not linked yet', 'mia@acme.test', expect.stringContaining('--jit on')]);
    op.bend({ ...says({ email: undefined, upn: 'mia' }), userInfo: () => ({ sub: 'subject of alice' }) });
    await signInByOidc(op, browser);
    expect((await lastFailure(portal))?.steps.at(-1)?.outcome).toMatch(/no email address; .*--map.* upn/);
  });

  it('OI-17 whose address is unverified links nobody, unless the operator trusts it', async () => {
    await connect('oidc');
    for (const email_verified of [false, undefined, 'yes'])
      await expectRefused(await signIn({ email_verified }), 'unverified-email');
    await set('trusts_email = true');
    expect(await signIn({ email_verified: false })).toBe('/portal/portal.html');
  });

  it.each(['alice@acme.test@acme.test', 'alice＠acme.test', 'alice@acme.test.', 'alice@acme.test,bob@beta.test'])(
    'OI-18 the ambiguous address %j finds nobody; upper case finds the same person',
    async (email) => {
      await connect('oidc');
      expect(await signIn({ email })).toMatch(/loginfail/);
      expect(await reason()).toMatch(/^(?:unknown-user|foreign-domain)$/);
      await signIn({ email: 'Alice@ACME.test' });
      expect(await signedInAs(portal, browser.cookies)).toBe('alice');
    },
  );

  it('OI-19 SA-45 its preferred name is never looked up, and of several addresses none is used', async () => {
    await connect('oidc');
    await addUser(portal, { username: 'admin', email: 'root@acme.test' });
    const stranger = { sub: 'x', email: undefined, preferred_username: 'admin' };
    op.bend({ ...says(stranger), userInfo: () => stranger });
    await expectRefused(await signInByOidc(op, browser), 'unknown-user');
    await expectRefused(
      await signIn({ sub: 'b', email: ['alice@acme.test', 'root@acme.test'] } as never),
      'unknown-user',
    );
    expect((await lastFailure(portal))?.steps.at(-1)?.outcome).toContain('sends several email addresses');
  });

  it('OI-22 whose second factor counts only if the operator lists it', async () => {
    await connect('oidc');
    await portal.sql`update customer set two_factor = 'app'`;
    expect(await signIn({ amr: ['pwd', 'mfa'], acr: 'low' })).toContain('/twoFactorRegistration');
    await set("second_factor_values = '{mfa}'");
    expect(await signIn({ amr: ['pwd', 'mfa'] })).toBe('/portal/portal.html');
    expect(await signIn({ amr: ['pwd'] })).toContain('/twoFactorRegistration');
  });
});

describe('a person without a user', () => {
  const carol = { sub: 'new', email: 'carol@acme.test', locale: 'de-AT' };
  const users = () =>
    portal.sql`select username, language, password_hash, may_change_password from portal_user where email = ${carol.email}`;

  it('ends on the failure page with a reference, or gets one if the connection allows', async () => {
    await connect('oidc');
    const location = await signIn(carol);
    await expectRefused(location, 'unknown-user');
    expect((await browser.get(location)).body).toMatch(/[0-9A-Z]{4}-[0-9A-Z]{4}/);
    await set('makes_users = true');
    expect(await signIn(carol)).toBe('/portal/portal.html');
    const made = { username: carol.email, language: 'de', password_hash: null, may_change_password: false };
    expect(await users()).toEqual([made]);
  });

  it.each([
    [true, 'carol@acme.test'],
    [false, 'alice@acme.test'],
  ])(
    'concurrent first sign-ins of one person all succeed, also if the user is made (%s)',
    async (makesUsers, email) => {
      await connect('oidc');
      await set(`makes_users = ${makesUsers}, attributes = '{"name":"name","groups":"groups"}'`);
      op.bend(says({ sub: `subject of ${email}`, email, name: 'Zoë', groups: ['hr'] }));
      const tabs = Array.from({ length: 6 }, (_, n) => browserForTest(n % 2 ? portal : second));
      const callbacks = await Promise.all(tabs.map(async (tab) => pathOf(op.visit(await departFor(tab, email)))));
      const answers = await Promise.all(tabs.map((tab, at) => tab.get(callbacks[at] ?? '')));
      expect(answers.map(({ headers }) => headers.location)).toEqual(Array(6).fill('/portal/portal.html'));
      expect(await listUsers(portal.sql, { contains: email, limit: 2 })).toMatchObject([
        { name: 'Zoë', groups: ['acme:hr'] },
      ]);
    },
  );

  it('OI-33 never gets another’s name, or an address outside the domains; none is created if the sign-in is refused', async () => {
    await connect('oidc');
    await set(`makes_users = true, attributes = '{"username":"nick"}'`);
    await expectRefused(await signIn({ ...carol, nick: 'bob' }), 'name-taken');
    for (const nick of ['DORA@Beta.test', 'dora@nowhere.test', 'dora@sub.acme.test'])
      await expectRefused(await signIn({ ...carol, nick }), 'foreign-domain');
    await portal.sql`update customer set allowed_networks = '{10.0.0.0/8}' where key = 'acme'`;
    await signIn({ ...carol, nick: 'carol' });
    expect([await reason(), await users()]).toEqual(['network', []]);
    await portal.sql`update customer set allowed_networks = '{}'`;
    expect(await signIn({ ...carol, nick: 'Carol.Smith@ACME.test' })).toBe('/portal/portal.html');
  });
});

describe('what comes as a SAML answer', () => {
  const post = async (form: Record<string, string>) =>
    String((await postSamlAnswer(portal, browser, form)).headers.location);
  const acsPath = new URL(acs).pathname;

  it('SA-37 a RelayState that is not ours is neither followed nor shown', async () => {
    await connect('saml');
    for (const RelayState of ['javascript:alert(1)', 'https://evil.example/', '<b>', 'x'.repeat(10_000)]) {
      const answer = await postSamlAnswer(portal, browser, { ...samlAnswer(portal, idp, null), RelayState });
      await expectRefused(String(answer.headers.location), 'provider-began');
      expect(`${answer.headers.location}${answer.body}`).not.toContain(RelayState.slice(0, 20));
    }
  });

  it('SA-38 a field that is doubled, missing, empty or a list is 400; an invalid answer ends on the failure page', async () => {
    await connect('saml');
    const form = new URLSearchParams({ ...samlAnswer(portal, idp, null), RelayState: 'x' }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded', ...crossSite.headers };
    const status = async (body: string) =>
      (await portal.send({ method: 'POST', url: acsPath, body, headers })).statusCode;
    for (const body of [`${form}&SAMLResponse=x`, `${form}&RelayState=x`, '', 'SAMLResponse=', 'SAMLResponse[]=x'])
      expect(await status(body), body.slice(-40)).toBe(400);
    expect(await status(`SAMLResponse=${'A'.repeat(limits.samlBodyBytes)}`)).toBe(413);
    for (const SAMLResponse of ['!!!!', Buffer.from('no xml').toString('base64')]) {
      await expectRefused(await post({ SAMLResponse }), 'answer-invalid');
      const { state } = samlRequestAt(await departFor(browser));
      await expectRefused(await post({ SAMLResponse, RelayState: state }), 'answer-invalid');
    }
  });
});
