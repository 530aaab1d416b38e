import { X509Certificate } from 'node:crypto';
import { decodeProtectedHeader, importX509, jwtVerify } from 'jose';
import type { ServerMetadata } from 'openid-client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type OpenIdProvider,
  type OpenIdProviderOptions,
  startOpenIdProvider,
  walkProvider,
} from '#test/providers/openid-provider-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { oidcConnection, startVisit } from '#test/support/sso-for-test.ts';
import { redirectUri } from '../addresses.ts';
import { portalKeys } from '../portal-keys.ts';
import { oidcLogout } from '../sign-out-at-provider.ts';
import { readOidcAnswer } from './callback-route.ts';
import { clientAssertion, publicJwk } from './client-authentication.ts';
import { freshSignInParameters } from './provider.ts';

const providers: OpenIdProvider[] = [];
const portal = portalOfFile();
// The provider uses the real clock.
beforeAll(() => portal.wait(Date.now() - portal.deps.now().getTime()));
afterAll(async () => {
  await Promise.all(providers.map((provider) => provider.close()));
});

async function providerWith(more: Partial<OpenIdProviderOptions> = {}): Promise<OpenIdProvider> {
  const redirectUris = [redirectUri(portal.deps.config, { key: 'customer' })];
  const provider = await startOpenIdProvider({ redirectUris, ...more });
  providers.push(provider);
  return provider;
}

const email = 'alice@customer.example';
type Connection = Parameters<typeof oidcConnection>[2];
/** What is read of a sign-in there. */
async function signIn(provider: OpenIdProvider, connection: Connection = {}) {
  const to = oidcConnection(portal.deps, provider, connection);
  const visit = await startVisit(portal.deps, to);
  return await readOidcAnswer(portal.deps, to, { ...visit, url: await walkProvider(provider, visit.url, { email }) });
}

it('a certified provider says who the person is, and its session is ended too', async () => {
  const provider = await providerWith({ postLogoutRedirectUris: ['http://localhost:8080/portal/login'] });
  const answer = await signIn(provider);
  const identity = {
    subject: `subject of ${email}`,
    emails: [email],
    emailVerified: true,
    idToken: expect.any(String),
  };
  expect(answer).toMatchObject({ kind: 'ok', identity });
  const idToken = answer.kind === 'ok' ? answer.identity.idToken : null;
  const logout = await oidcLogout(portal.deps, oidcConnection(portal.deps, provider), idToken);
  const page = await fetch(logout?.url ?? '');
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('logout')]);
});

it.each<[string, Partial<OpenIdProviderOptions>, object, Connection, object]>([
  [
    'userinfo, for an address that is not in the ID token',
    { claimsInIdToken: false },
    { email_verified: false, locale: 'pl' },
    {},
    { emails: [email], emailVerified: false, language: 'pl' },
  ],
  [
    'the claims that the connection names, and how the person authenticated',
    { moreClaims: ['acr', 'amr', 'upn', 'lang'] },
    { acr: 'high', amr: ['pwd', 'otp'], upn: 'alice', lang: 'de' },
    { attributes: { username: 'upn', language: 'lang' } },
    { username: 'alice', language: 'de', authenticationContexts: ['high', 'pwd', 'otp'] },
  ],
  [
    'OI-17 an address from another claim, which is not verified',
    { moreClaims: ['upn'] },
    { upn: 'boss@customer.example', email_verified: true },
    { attributes: { email: 'upn' } },
    { emails: ['boss@customer.example'], emailVerified: false },
  ],
  [
    'an ID token, with our secret in the body',
    { clientAuthentication: 'client_secret_post' },
    {},
    {},
    { emails: [email] },
  ],
])('what is read there: %s', async (_what, options, person, connection, identity) => {
  const provider = await providerWith(options);
  provider.people.set(email, { ...person });
  expect(await signIn(provider, connection)).toMatchObject({ kind: 'ok', identity });
});

it('the portal proves who it is by a signature with its own key, of which it publishes the public part', async () => {
  const keys = await Promise.all((await portalKeys(portal.deps)).map(publicJwk));
  const kid = expect.stringMatching(/^[\w-]{43}$/);
  expect(keys).toEqual([{ kty: 'RSA', n: expect.any(String), e: 'AQAB', kid, use: 'sig' }]);
  const { body } = await portal.send({ url: '/portal/authenticate/oidc/keys' });
  expect(JSON.parse(body)).toEqual({ keys });
  const provider = await providerWith({ clientAuthentication: 'private_key_jwt', clientKeys: { keys } });
  const settings = { clientAuthentication: 'privateKey' } as const;
  expect(await signIn(provider, { settings, sealedSecret: null })).toMatchObject({ kind: 'ok' });
});

const entra = 'https://login.microsoftonline.com/7f1c8a52-0000-4000-8000-000000000000/v2.0';
const elsewhere = 'https://idp.example';

it.each([
  ['Entra ID, which announces nothing', entra, undefined, 'PS256'],
  ['a provider that announces nothing', elsewhere, undefined, 'RS256'],
  ['one that announces PS256 alone', elsewhere, ['PS256'], 'PS256'],
  ['one that announces both', entra, ['PS256', 'RS256'], 'RS256'],
])('the signature for %s is as expected, and names key and certificate', async (_who, issuer, announced, alg) => {
  const metadata: ServerMetadata = {
    issuer,
    ...(announced && { token_endpoint_auth_signing_alg_values_supported: announced }),
  };
  const [key] = await portalKeys(portal.deps);
  const body = new URLSearchParams();
  await (await clientAssertion(key, metadata))(metadata, { client_id: 'vestibule' }, body, new Headers());
  const assertion = body.get('client_assertion') ?? '';
  const raw = new Uint8Array(new X509Certificate(key.certificate).raw);
  const digest = async (name: string) => Buffer.from(await crypto.subtle.digest(name, raw)).toString('base64url');
  const { kid } = await publicJwk(key);
  const named = { kid, x5t: await digest('SHA-1'), 'x5t#S256': await digest('SHA-256') };
  expect(decodeProtectedHeader(assertion)).toEqual({ alg, typ: 'JWT', ...named });
  const verified = await jwtVerify(assertion, await importX509(key.certificate, alg), { currentDate: new Date() });
  expect(verified.payload).toMatchObject({ iss: 'vestibule', sub: 'vestibule', aud: issuer });
});

it.each([
  [elsewhere, undefined, { max_age: '0', prompt: 'login' }],
  [elsewhere, ['none', 'select_account'], { prompt: 'select_account' }],
  [elsewhere, ['none', 'consent'], { max_age: '0' }],
  ['https://accounts.google.com', undefined, { prompt: 'select_account' }],
])('a fresh sign-in is asked of %s, which lists %j, by parameters it supports', (issuer, known, parameters) => {
  expect(freshSignInParameters({ issuer, ...(known && { prompt_values_supported: known }) })).toEqual(parameters);
});
