import { beforeEach, describe, expect, it } from 'vitest';
import { postLogoutToken } from '#test/forgeries/logout-token.ts';
import { newKey, signed, startForgedProvider, unsigned } from '#test/providers/forged-openid-provider.ts';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { portalOfFile, sharedByFile } from '#test/support/portal-of-file.ts';
import { emptyDatabase } from '#test/support/rows-for-test.ts';
import { oneOfEach } from '#test/support/runs-all.ts';
import {
  addOidcConnection,
  type BrowserForTest,
  browserForTest,
  departFor,
  pathOf,
} from '#test/support/sso-for-test.ts';
import { codeByMail } from '#test/support/two-factor-for-test.ts';

type Json = Record<string, unknown>;

const event = 'http://schemas.openid.net/event/backchannel-logout';
const subject = 'subject of alice';

const portal = portalOfFile();
const acme = sharedByFile(() => startForgedProvider(portal.deps));
const beta = sharedByFile(() => startForgedProvider(portal.deps));

let browser: BrowserForTest;
let tokens = 0;
beforeEach(async () => {
  await emptyDatabase(portal);
  acme.bend({ claims: (honest) => ({ ...honest, email: 'alice@acme.test', sid: 'sid-1' }) });
  await addCustomer(portal, 'acme');
  await addCustomer(portal, 'beta');
  await addUser(portal, { username: 'alice' });
  await addUser(portal, { username: 'bob' });
  await addOidcConnection(portal, acme);
  await addOidcConnection(portal, beta, { key: 'beta-oidc', customerKey: 'beta', domains: ['beta.test'] });
  browser = browserForTest(portal);
});

async function signIn(as = browser, email = 'alice@acme.test'): Promise<BrowserForTest> {
  await as.get(pathOf(acme.visit(await departFor(as, email))));
  expect(await sessionStatus(as)).toBe(200);
  return as;
}

const sessionStatus = async (of = browser) => (await of.get('/portal/session')).statusCode;

/** What an honest provider says of alice. */
function honest(): Json {
  tokens += 1;
  const iat = Math.floor(portal.deps.now().getTime() / 1000);
  const { issuer: iss, clientId: aud } = acme;
  return { iss, aud, iat, exp: iat + 120, jti: `token-${tokens}`, sub: subject, sid: 'sid-1', events: { [event]: {} } };
}

const header = () => ({ alg: 'RS256', kid: acme.key.kid, typ: 'logout+jwt' });

async function tokenWith(claims: Json, more: Json = {}, key = acme.key.privateKey): Promise<string> {
  const whole = Object.fromEntries(
    Object.entries({ ...honest(), ...claims }).filter(([, value]) => value !== undefined),
  );
  return await signed(whole, { ...header(), ...more }, key);
}

const post = (token: string, more: Parameters<typeof postLogoutToken>[2] = {}) =>
  postLogoutToken(portal, token, { from: '203.0.113.9', ...more });

describe('a logout that an OpenID provider begins', () => {
  it.each([
    ['a subject and a session of the provider', {}],
    ['a subject', { sid: undefined }],
    ['a session of the provider', { sub: undefined }],
  ])('ends what came by %s, and nothing else', async (_name, claims) => {
    const bob = { sub: 'subject of bob', email: 'bob@acme.test', sid: 'sid-2' };
    acme.bend({ claims: (own) => ({ ...own, ...bob }) });
    const another = await signIn(browserForTest(portal), bob.email);
    acme.bend({ claims: (own) => ({ ...own, email: 'alice@acme.test', sid: 'sid-1' }) });
    await signIn();
    const answer = await post(await tokenWith(claims));
    expect([answer.statusCode, answer.headers['cache-control'], answer.body]).toEqual([200, 'no-store', '']);
    expect([await sessionStatus(), await sessionStatus(another)]).toEqual([401, 200]);
    const [row] =
      await portal.sql`select connection, username, steps from audit_event where event = 'signed-out-by-provider'`;
    expect(row).toMatchObject({ connection: 'acme-oidc', username: 'alice', steps: [{ outcome: '1 ended' }] });
  });

  it('reports success if there is nothing to end', async () => {
    expect((await post(await tokenWith({ sub: 'nobody', sid: undefined }))).statusCode).toBe(200);
    expect((await post(await tokenWith({ sid: 'another' }))).statusCode).toBe(200);
  });

  it.each(['before', 'after'])(
    'ends a session whose code came %s the token that was made while it was awaited',
    async (when) => {
      await portal.sql`update customer set two_factor = 'email' where key = 'acme'`;
      await browser.get(pathOf(acme.visit(await departFor(browser))));
      expect(await portal.sql`select from session where stage = 'half'`).toHaveLength(1);
      const token = await tokenWith({});
      portal.wait(5000);
      if (when === 'before') {
        const code = await codeByMail(portal, 'alice');
        await browser.post('/portal/two-factor-authentication/verify', { code });
        expect(await sessionStatus()).toBe(200);
      }
      await post(token);
      expect(await portal.sql`select from session`).toHaveLength(0);
    },
  );

  it('accepts a token by any name its kind has had, and with an audience among others', async () => {
    for (const typ of ['logout+jwt', 'application/logout+jwt', 'JWT', undefined]) {
      expect((await post(await tokenWith({ aud: ['other', acme.clientId] }, { typ }))).statusCode, `${typ}`).toBe(200);
    }
  });

  const seconds = () => Math.floor(portal.deps.now().getTime() / 1000);
  const otherKey = async () => (await newKey('RS256')).privateKey;
  const changed = async () => {
    const [head, , signature] = (await tokenWith({})).split('.');
    return `${head}.${Buffer.from(JSON.stringify(honest())).toString('base64url')}.${signature}`;
  };
  const bySecret = () => signed(honest(), { alg: 'HS256' }, new TextEncoder().encode(acme.clientSecret.padEnd(64)));
  const forgeries: [string, () => Promise<string> | string][] = [
    ['no token at all', () => 'token'],
    ['the key of somebody else', async () => tokenWith({}, {}, await otherKey())],
    ['the key of another provider', () => tokenWith({ iss: beta.issuer }, { kid: beta.key.kid }, beta.key.privateKey)],
    ['no signature', () => unsigned(honest(), { ...header(), alg: 'none' })],
    ['a signature by the client secret', bySecret],
    ['changed claims', changed],
    ...['iss', 'aud', 'events', 'jti', 'iat', 'exp'].map((name): [string, () => Promise<string>] => [
      `no ${name}`,
      () => tokenWith({ [name]: undefined }),
    ]),
    ['another issuer', () => tokenWith({ iss: 'https://idp.test' })],
    ['another audience', () => tokenWith({ aud: 'other' })],
    ['an ID token', () => tokenWith({ events: undefined, nonce: 'n' }, { typ: 'JWT' })],
    ['a nonce', () => tokenWith({ nonce: 'n' })],
    ['another event', () => tokenWith({ events: { 'https://idp.test/event': {} } })],
    ['events as a list', () => tokenWith({ events: [event] })],
    ['an event that is no object', () => tokenWith({ events: { [event]: true } })],
    ['neither sub nor sid', () => tokenWith({ sub: undefined, sid: undefined })],
    ['a sub that is no text', () => tokenWith({ sub: 7, sid: undefined })],
    ['an empty sid', () => tokenWith({ sub: undefined, sid: '' })],
    ['iat in the future', () => tokenWith({ iat: seconds() + 600, exp: seconds() + 900 })],
    ['iat long ago', () => tokenWith({ iat: seconds() - 3600 })],
    ['exp in the past', () => tokenWith({ exp: seconds() - 600 })],
    ['typ of another kind', () => tokenWith({}, { typ: 'at+jwt' })],
    ['an unknown critical header', () => signedText(JSON.stringify(honest()), { ...header(), crit: ['x'], x: 1 })],
  ];
  const signedText = async (claims: string, head: Json = header()) => {
    const part = (text: string) => Buffer.from(text).toString('base64url');
    const input = `${part(JSON.stringify(head))}.${part(claims)}`;
    const bytes = await crypto.subtle.sign('RSASSA-PKCS1-v1_5', acme.key.privateKey, Buffer.from(input));
    return `${input}.${Buffer.from(bytes).toString('base64url')}`;
  };

  it.each(oneOfEach(forgeries, () => 'forged'))('OI-32 refuses %s and ends nothing', async (_name, make) => {
    await signIn();
    const answer = await post(await make());
    expect([answer.statusCode, answer.headers['cache-control'], answer.json().error]).toEqual([
      400,
      'no-store',
      'invalid_request',
    ]);
    expect(await sessionStatus()).toBe(200);
    const rows = await portal.sql`select steps from audit_event where event = 'provider-logout-refused'`;
    expect(rows).toHaveLength(1);
  });

  it('a token shown again, also by several at once, ends only what was made before it', async () => {
    const token = await tokenWith({});
    await signIn();
    const again = async () => await Promise.all([1, 2, 3].map(async () => (await post(token)).statusCode));
    expect([await again(), await sessionStatus()]).toEqual([[200, 200, 200], 401]);
    portal.wait(1000);
    await signIn();
    expect([await again(), await sessionStatus()]).toEqual([[200, 200, 200], 200]);
  });

  it('ends nothing for another connection, a missing one, or a SAML one', async () => {
    await signIn();
    for (const connection of ['beta-oidc', 'nobody'])
      expect((await post(await tokenWith({}), { connection })).statusCode, connection).toBe(400);
    expect(await sessionStatus()).toBe(200);
  });

  it('ends what came by another connection with the same client of the same provider too', async () => {
    const more = { customerKey: 'beta', domains: ['acme2.test'] };
    await addOidcConnection(portal, acme, { ...more, key: 'acme-2' });
    await signIn();
    const token = await tokenWith({});
    expect((await post(token, { connection: 'acme-2' })).statusCode).toBe(200);
    expect(await sessionStatus()).toBe(401);
    const rows = await portal.sql`select connection from audit_event where event = 'signed-out-by-provider'`;
    expect(rows).toEqual([{ connection: 'acme-oidc' }]);
  });

  it.each([
    ['client of the same provider', () => ({ ...acme, clientId: 'another client' })],
    ['provider’s client of the same name', () => ({ ...beta, clientId: acme.clientId })],
  ])('ends nothing for another %s', async (_name, make) => {
    const other = make();
    await addOidcConnection(portal, other, { key: 'other', customerKey: 'beta', domains: ['other.test'] });
    await signIn();
    const { issuer: iss, clientId: aud, key } = other;
    const token = await tokenWith({ iss, aud }, { kid: key.kid }, key.privateKey);
    expect((await post(token, { connection: 'other' })).statusCode).toBe(200);
    expect(await sessionStatus()).toBe(200);
  });

  it('is 503 while the provider is down', async () => {
    await portal.sql`update sso_connection set settings = settings || '{"issuer":"http://127.0.0.1:9"}' where key = 'acme-oidc'`;
    expect((await post(await tokenWith({}))).statusCode).toBe(503);
  });

  it('OI-34 reads the keys only in the networks of the connection, even those that another one has made known', async () => {
    await signIn();
    expect((await post(await tokenWith({ sub: 'nobody', sid: undefined }))).statusCode).toBe(200);
    await portal.sql`update sso_connection set provider_networks = '{}', version = version + 1`;
    const asked = acme.requests.length;
    expect((await post(await tokenWith({}))).statusCode).toBe(400);
    const [event] = await portal.sql`select steps from audit_event where event = 'provider-logout-refused'`;
    expect(event?.steps[0].outcome).toContain('--provider-network');
    expect(acme.requests).toHaveLength(asked);
    expect(await sessionStatus()).toBe(200);
  });

  it('only this call accepts requests from elsewhere, and only POST', async () => {
    const url = '/portal/authenticate/oidc/backchannel-logout';
    const headers = { origin: 'https://idp.test', 'sec-fetch-site': 'cross-site' };
    for (const path of [url, `${url}/`, `${url}/acme-oidc/more`, `${url}/acme-oidc?x=1`, `${url}/../../logout`])
      expect((await portal.send({ method: 'POST', url: path, form: {}, headers })).statusCode, path).toBe(403);
    expect((await portal.send({ method: 'PUT', url: `${url}/acme-oidc`, headers })).statusCode).toBe(403);
  });
});
