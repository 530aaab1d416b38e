import Fastify from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type OpenIdProvider,
  type OpenIdProviderOptions,
  startOpenIdProvider,
  walkProvider,
} from '#test/providers/openid-provider-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { oidcConnection, startVisit } from '#test/support/sso-for-test.ts';
import type { Deps } from '../../deps.ts';
import { redirectUri } from '../addresses.ts';
import { portalKeys } from '../portal-keys.ts';
import type { ProviderAnswer } from '../provider-answer.ts';
import { oidcLogout } from '../sign-out-at-provider.ts';
import type { OidcConnection } from '../sso-connection.ts';
import { readOidcAnswer } from './callback-route.ts';
import { oidcKeysRoute, publicJwk } from './client-authentication.ts';
import { startOidc } from './start.ts';

let deps: Deps;
const providers: OpenIdProvider[] = [];
const portal = portalOfFile();
beforeAll(() => {
  ({ deps } = portal);
  // The provider uses the real clock.
  portal.wait(Date.now() - deps.now().getTime());
});
afterAll(async () => {
  await Promise.all(providers.map((provider) => provider.close()));
});

async function providerWith(more: Partial<OpenIdProviderOptions> = {}): Promise<OpenIdProvider> {
  const provider = await startOpenIdProvider({
    redirectUris: [redirectUri(deps.config, { key: 'customer' })],
    ...more,
  });
  providers.push(provider);
  return provider;
}

async function signIn(
  provider: OpenIdProvider,
  connection: OidcConnection,
  person: { email: string } | 'cancel' = { email: 'alice@customer.example' },
): Promise<ProviderAnswer> {
  const visit = await startVisit(deps, connection);
  return await readOidcAnswer(deps, connection, { ...visit, url: await walkProvider(provider, visit.url, person) });
}

describe('a sign-in at a certified provider', () => {
  it('says who the person is', async () => {
    const provider = await providerWith();
    const answer = await signIn(provider, oidcConnection(deps, provider));
    const email = 'alice@customer.example';
    const identity = { subject: `subject of ${email}`, email, emailVerified: true, idToken: expect.any(String) };
    expect(answer).toMatchObject({ kind: 'ok', identity });
  });

  it('asks userinfo for an address that is not in the ID token', async () => {
    const provider = await providerWith({ claimsInIdToken: false });
    provider.people.set('bob@customer.example', { email_verified: false, locale: 'pl' });
    expect(await signIn(provider, oidcConnection(deps, provider), { email: 'bob@customer.example' })).toMatchObject({
      kind: 'ok',
      identity: { email: 'bob@customer.example', emailVerified: false, language: 'pl' },
    });
  });

  it('reads the claims that the connection names, and how the person authenticated', async () => {
    const provider = await providerWith({ moreClaims: ['acr', 'amr', 'upn', 'lang'] });
    provider.people.set('alice@customer.example', { acr: 'high', amr: ['pwd', 'otp'], upn: 'alice', lang: 'de' });
    const attributes = { username: 'upn', language: 'lang' };
    expect(await signIn(provider, oidcConnection(deps, provider, { attributes }))).toMatchObject({
      kind: 'ok',
      identity: { username: 'alice', language: 'de', authenticationContexts: ['high', 'pwd', 'otp'] },
    });
  });

  it('OI-17 an address from another claim is not verified', async () => {
    const provider = await providerWith({ moreClaims: ['upn'] });
    provider.people.set('alice@customer.example', { upn: 'boss@customer.example', email_verified: true });
    const connection = oidcConnection(deps, provider, { attributes: { email: 'upn' } });
    expect(await signIn(provider, connection)).toMatchObject({
      kind: 'ok',
      identity: { email: 'boss@customer.example', emailVerified: false },
    });
  });

  it('OI-23 ends with the provider’s words when the visitor cancels', async () => {
    const provider = await providerWith();
    expect(await signIn(provider, oidcConnection(deps, provider), 'cancel')).toEqual({
      kind: 'refused',
      reason: 'provider-refused',
      words: 'access_denied (End-User aborted interaction)',
      isCancelled: true,
    });
  });

  it('ends at the provider too', async () => {
    const returnTo = 'http://localhost:8080/portal/login';
    const provider = await providerWith({ postLogoutRedirectUris: [returnTo] });
    const connection = oidcConnection(deps, provider);
    const answer = await signIn(provider, connection);
    const idToken = answer.kind === 'ok' ? answer.identity.idToken : null;
    const page = await fetch((await oidcLogout(deps, connection, idToken))?.url ?? '');
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('logout');
  });
});

describe('the portal proves who it is', () => {
  it('by its secret in the body, if only that is offered', async () => {
    const provider = await providerWith({ clientAuthentication: 'client_secret_post' });
    expect(await signIn(provider, oidcConnection(deps, provider))).toMatchObject({ kind: 'ok' });
  });

  it('by a signature with its own key', async () => {
    const keys = await Promise.all((await portalKeys(deps)).map(publicJwk));
    const provider = await providerWith({ clientAuthentication: 'private_key_jwt', clientKeys: { keys } });
    const settings = { clientAuthentication: 'privateKey' } as const;
    const connection = oidcConnection(deps, provider, { settings, sealedSecret: null });
    expect(await signIn(provider, connection)).toMatchObject({ kind: 'ok' });
  });

  it.each([
    ['no secret', { sealedSecret: null }, /has no client secret/],
    ['a secret that was sealed for another connection', { id: crypto.randomUUID() }, /cannot be opened/],
  ])('%s is a fault of the connection, and nobody departs', async (_name, stored, words) => {
    const connection = { ...oidcConnection(deps, await providerWith()), ...stored };
    const visit = { state: 'state', loginHint: null, language: 'en' };
    const refused = { kind: 'refused', reason: 'connection-broken', words: expect.stringMatching(words) };
    expect(await startOidc(deps, connection, visit)).toEqual(refused);
  });

  it('and publishes only the public parts', async () => {
    const app = Fastify();
    app.get('/', oidcKeysRoute(deps));
    const { headers, body } = await app.inject('/');
    expect(headers['content-type']).toContain('application/jwk-set+json');
    const { keys } = JSON.parse(body);
    const kid = expect.stringMatching(/^[\w-]{43}$/);
    expect(keys).toEqual([{ kty: 'RSA', n: expect.any(String), e: 'AQAB', kid, use: 'sig' }]);
  });
});
