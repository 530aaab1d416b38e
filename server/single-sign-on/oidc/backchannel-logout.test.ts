import { describe, expect, it } from 'vitest';
import { logoutToken, postLogoutToken } from '#test/forgeries/logout-token.ts';
import { type ForgedProvider, newKey, signed, unsigned } from '#test/providers/forged-openid-provider.ts';
import { oneOfEach } from '#test/support/runs-all.ts';
import {
  addOidcConnection,
  type BrowserForTest,
  browserForTest,
  departFor,
  pathOf,
} from '#test/support/sso-for-test.ts';
import { ssoOfFile } from '#test/support/sso-of-file.ts';
import { codeByMail, verifyUrl } from '#test/support/two-factor-for-test.ts';

type Json = Record<string, unknown>;

let browser: BrowserForTest;
const { portal, ops } = ssoOfFile({
  people: ['alice', 'bob'],
  oidc: { acme: {}, beta: { key: 'beta-oidc', customerKey: 'beta', domains: ['beta.test'] } },
  also: (portal) => {
    browser = browserForTest(portal);
  },
});
const { acme, beta } = ops;

const sessionStatus = async (of = browser) => (await of.get('/portal/session')).statusCode;
/** Signs somebody in, as far as that leads: alice in her session sid-1 at the provider. */
async function begin(name = 'alice', sid = 'sid-1', as = browser): Promise<BrowserForTest> {
  const email = `${name}@acme.test`;
  acme.bend({ claims: (own) => ({ ...own, sub: `subject of ${name}`, email, sid }) });
  await as.get(pathOf(acme.visit(await departFor(as, email))));
  return as;
}
async function signIn(...who: Parameters<typeof begin>): Promise<BrowserForTest> {
  const as = await begin(...who);
  expect(await sessionStatus(as)).toBe(200);
  return as;
}

const tokenWith = (claims: Json = {}, header: Json = {}, by: ForgedProvider = acme) =>
  logoutToken(portal, by, { sid: 'sid-1', ...claims }, header);
const post = (token: string, connection = 'acme-oidc') =>
  postLogoutToken(portal, token, { from: '203.0.113.9', connection });
const refusals = () => portal.sql`select steps from audit_event where event = 'provider-logout-refused'`;

describe('a logout that an OpenID provider begins', () => {
  it.each([
    ['a subject and a session of the provider', {}],
    ['a subject', { sid: undefined }],
    ['a session of the provider', { sub: undefined }],
  ])('ends what came by %s, and nothing else', async (_name, claims) => {
    const another = await signIn('bob', 'sid-2', browserForTest(portal));
    await signIn();
    const answer = await post(await tokenWith(claims));
    expect([answer.statusCode, answer.headers['cache-control'], answer.body]).toEqual([200, 'no-store', '']);
    expect([await sessionStatus(), await sessionStatus(another)]).toEqual([401, 200]);
    const rows =
      await portal.sql`select connection, username, steps from audit_event where event = 'signed-out-by-provider'`;
    expect(rows).toMatchObject([{ connection: 'acme-oidc', username: 'alice', steps: [{ outcome: '1 ended' }] }]);
    expect((await post(await tokenWith({ sub: 'nobody', sid: undefined }))).statusCode).toBe(200);
  });

  it.each([true, false])('ends a session whose code is awaited when the token is made (given: %s)', async (isGiven) => {
    await portal.sql`update customer set two_factor = 'email' where key = 'acme'`;
    await begin();
    const token = await tokenWith();
    portal.wait(5000);
    if (isGiven) await browser.post(verifyUrl, { code: await codeByMail(portal, 'alice') });
    expect(await portal.sql`select from session`).toHaveLength(1);
    await post(token);
    expect(await portal.sql`select from session`).toHaveLength(0);
  });

  it('a token shown again, also by several at once, ends only what was made before it', async () => {
    const token = await tokenWith();
    await signIn();
    const again = () => Promise.all([1, 2, 3].map(async () => (await post(token)).statusCode));
    expect([await again(), await sessionStatus()]).toEqual([[200, 200, 200], 401]);
    portal.wait(1000);
    await signIn();
    expect([await again(), await sessionStatus()]).toEqual([[200, 200, 200], 200]);
  });

  it('ends what came by another connection with the same client of the same provider, of no other', async () => {
    await addOidcConnection(portal, acme, { customerKey: 'beta', domains: ['acme2.test'], key: 'acme-2' });
    const others = [
      { ...acme, key: acme.key, clientId: 'another client' },
      { ...beta, key: beta.key, clientId: acme.clientId },
    ];
    await signIn();
    for (const [at, other] of others.entries()) {
      await addOidcConnection(portal, other, { key: `other-${at}`, customerKey: 'beta', domains: [`${at}.test`] });
      expect((await post(await tokenWith({}, {}, other), `other-${at}`)).statusCode).toBe(200);
    }
    for (const connection of ['beta-oidc', 'nobody'])
      expect((await post(await tokenWith(), connection)).statusCode, connection).toBe(400);
    expect(await sessionStatus()).toBe(200);
    await post(await tokenWith(), 'acme-2');
    expect(await sessionStatus()).toBe(401);
  });

  it('OI-34 reads the keys only in the networks of the connection, even those that were read before', async () => {
    await signIn();
    await post(await tokenWith({ sub: 'nobody', sid: undefined }));
    await portal.sql`update sso_connection set provider_networks = '{}', version = version + 1`;
    const asked = acme.requests.length;
    expect((await post(await tokenWith())).statusCode).toBe(400);
    expect((await refusals())[0]?.steps[0].outcome).toContain('--provider-network');
    expect([acme.requests.length, await sessionStatus()]).toEqual([asked, 200]);
  });
});

const seconds = () => Math.floor(portal.deps.now().getTime() / 1000);
const honest = async () => JSON.parse(Buffer.from((await tokenWith()).split('.')[1] ?? '', 'base64url').toString());
const bySecret = async () =>
  signed(await honest(), { alg: 'HS256' }, new TextEncoder().encode(acme.clientSecret.padEnd(64)));
const otherKey = async () => ({ ...acme, key: { ...(await newKey('RS256')), kid: acme.key.kid } });
const changed = async () => {
  const [head, , signature] = (await tokenWith()).split('.');
  const claims = JSON.stringify({ ...(await honest()), jti: 'another' });
  return `${head}.${Buffer.from(claims).toString('base64url')}.${signature}`;
};

const forgeries: [string, () => Promise<string> | string][] = [
  ['no token at all', () => 'token'],
  ['the key of somebody else', async () => tokenWith({}, {}, await otherKey())],
  ['no signature', async () => unsigned(await honest(), { alg: 'none', typ: 'logout+jwt' })],
  ['a signature by the client secret', bySecret],
  ['changed claims', changed],
  ...['iss', 'aud', 'events', 'jti', 'iat', 'exp'].map((name): [string, () => Promise<string>] => [
    `no ${name}`,
    () => tokenWith({ [name]: undefined }),
  ]),
  ['another issuer', () => tokenWith({ iss: 'https://idp.test' })],
  ['another audience', () => tokenWith({ aud: 'other' })],
  ['a nonce', () => tokenWith({ nonce: 'n' })],
  ['another event', () => tokenWith({ events: { 'https://idp.test/event': {} } })],
  ['neither sub nor sid', () => tokenWith({ sub: undefined, sid: undefined })],
  ['an empty sid', () => tokenWith({ sub: undefined, sid: '' })],
  ['iat in the future', () => tokenWith({ iat: seconds() + 600, exp: seconds() + 900 })],
  ['iat long ago', () => tokenWith({ iat: seconds() - 3600 })],
  ['exp in the past', () => tokenWith({ exp: seconds() - 600 })],
  ['typ of another kind', () => tokenWith({}, { typ: 'at+jwt' })],
];

it.each(oneOfEach(forgeries, () => 'forged'))(
  'OI-32 a token with %s is refused, and ends nothing',
  async (_name, make) => {
    await signIn();
    const answer = await post(await make());
    expect([answer.statusCode, answer.json().error, await sessionStatus()]).toEqual([400, 'invalid_request', 200]);
    expect(await refusals()).toHaveLength(1);
  },
);
