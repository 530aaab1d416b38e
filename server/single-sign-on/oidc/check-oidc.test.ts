import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bend, type ForgedProvider, startForgedProvider } from '#test/providers/forged-openid-provider.ts';
import { type OpenIdProvider, startOpenIdProvider } from '#test/providers/openid-provider-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { oidcConnection } from '#test/support/sso-for-test.ts';
import type { Deps } from '../../deps.ts';
import { publicAddress, redirectUri as redirectUriOf } from '../addresses.ts';
import type { OidcConnection } from '../sso-connection.ts';
import { checkOidc } from './check-oidc.ts';

let deps: Deps;
let provider: OpenIdProvider;
let forged: ForgedProvider;
let redirectUri: string;
const portal = portalOfFile();
beforeAll(async () => {
  ({ deps } = portal);
  redirectUri = redirectUriOf(deps.config, { key: 'customer' });
  // The provider uses the real clock.
  portal.wait(Date.now() - deps.now().getTime());
  provider = await startOpenIdProvider({ redirectUris: [redirectUri] });
  forged = await startForgedProvider(deps);
});
afterAll(async () => {
  await provider.close();
  await forged.close();
});

/** The steps that failed, with their words. */
async function failures(connection: OidcConnection): Promise<[string, string][]> {
  const steps = await checkOidc(deps, connection);
  return steps.filter(({ ok }) => !ok).map(({ step, words }) => [step, words]);
}

describe('a connection at a certified provider', () => {
  it('passes if all is right', async () => {
    expect(await checkOidc(deps, oidcConnection(deps, provider))).toEqual([
      { step: 'discovery', ok: true, words: `${provider.issuer} answers, and its endpoints are https` },
      { step: 'response type', ok: true, words: 'the provider offers the authorization code' },
      { step: 'PKCE', ok: true, words: 'the provider announces S256' },
      { step: 'keys', ok: true, words: '1 of 1 can check signatures' },
      { step: 'client authentication', ok: true, words: expect.stringContaining('client_secret_basic') },
      { step: 'sign-in request', ok: true, words: 'the provider knows the client id and the redirect URI' },
      {
        step: 'token request',
        ok: true,
        words: 'the provider accepts our client authentication, by client_secret_basic',
      },
    ]);
  });

  it('names a wrong client id', async () => {
    expect(await failures(oidcConnection(deps, { ...provider, clientId: 'nobody' }))).toEqual([
      ['sign-in request', '--client-id: the provider does not know nobody'],
      ['token request', expect.stringMatching(/^--client-id or --client-secret-stdin: .*invalid_client/)],
    ]);
  });

  it('names a wrong secret', async () => {
    expect(await failures(oidcConnection(deps, { ...provider, clientSecret: 'wrong' }))).toEqual([
      ['token request', expect.stringMatching(/^--client-secret-stdin: .*invalid_client/)],
    ]);
  });

  it('names a redirect URI that the provider does not know', async () => {
    const elsewhere = await startOpenIdProvider({ redirectUris: ['https://old.example/callback'] });
    try {
      expect(await failures(oidcConnection(deps, elsewhere))).toEqual([
        ['sign-in request', `redirect URI: the provider does not know it; register ${redirectUri} there`],
      ]);
    } finally {
      await elsewhere.close();
    }
  });

  it('names the portal’s keys if the provider does not know them', async () => {
    const elsewhere = await startOpenIdProvider({
      redirectUris: [redirectUri],
      clientAuthentication: 'private_key_jwt',
      clientKeys: { keys: [forged.key.jwk] },
    });
    try {
      const settings = { clientAuthentication: 'privateKey' } as const;
      expect(await failures(oidcConnection(deps, elsewhere, { settings }))).toEqual([
        ['token request', expect.stringContaining(`must know the keys at ${publicAddress(deps.config, 'oidcKeys')}`)],
      ]);
    } finally {
      await elsewhere.close();
    }
  });

  it('names a missing secret', async () => {
    expect(await failures(oidcConnection(deps, provider, { sealedSecret: null }))).toEqual([
      ['client authentication', '--client-secret-stdin: the connection has no client secret'],
    ]);
  });
});

describe('a provider that is not as it must be', () => {
  it('names an issuer that calls itself something else', async () => {
    const issuer = `${provider.issuer}/`;
    expect(await failures(oidcConnection(deps, { ...provider, issuer }))).toEqual([
      ['discovery', `--issuer: the discovery document of ${issuer} names another issuer, ${provider.issuer}`],
    ]);
  });

  it('reports an issuer without discovery', async () => {
    const issuer = `${provider.issuer}/elsewhere`;
    expect(await failures(oidcConnection(deps, { ...provider, issuer }))).toEqual([
      ['discovery', `--issuer: ${issuer}/.well-known/openid-configuration answers 404`],
    ]);
  });

  const bends: [name: string, bend: Bend, step: string, words: RegExp][] = [
    [
      'another response type alone',
      { discovery: (honest) => ({ ...honest, response_types_supported: ['id_token'] }) },
      'response type',
      /does not offer response_type code/,
    ],
    [
      'keys for encryption alone',
      { keys: () => ({ keys: [{ kty: 'RSA', use: 'enc' }] }) },
      'keys',
      /none of the 1 keys/,
    ],
    [
      'signatures that are not accepted alone, with those that are',
      { discovery: (honest) => ({ ...honest, id_token_signing_alg_values_supported: ['HS512'] }) },
      'signature',
      /announces only HS512; accepted are RS256, .*EdDSA/,
    ],
    ['keys that are away', { instead: { keys: (response) => response.writeHead(503).end() } }, 'keys', /answers 503/],
    [
      'other ways alone to prove who we are',
      { discovery: (honest) => ({ ...honest, token_endpoint_auth_methods_supported: ['tls_client_auth'] }) },
      'client authentication',
      /offers tls_client_auth, but not client_secret_basic or client_secret_post/,
    ],
    [
      'a token endpoint that is away',
      { instead: { token: (response) => response.writeHead(503).end() } },
      'token request',
      /\/token answers 503/,
    ],
  ];
  it('reports a provider that offers both ways to send the secret but accepts only the other one, and which option to set', async () => {
    forged.bend({
      discovery: (honest) => ({
        ...honest,
        token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'],
      }),
      instead: {
        token: (response) => {
          const error = forged.tokenRequests.at(-1)?.authorization ? 'invalid_client' : 'invalid_grant';
          response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
        },
      },
    });
    expect(await failures(oidcConnection(deps, forged))).toContainEqual([
      'token request',
      'the secret is right, but the provider expects it by client_secret_post: vestibule connection set customer --client-auth post',
    ]);
  });

  it('does not blame only the secret if the provider may not know the client', async () => {
    forged.bend({
      instead: {
        token: (response) =>
          response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":"invalid_client"}'),
      },
    });
    expect(await failures(oidcConnection(deps, forged))).toContainEqual([
      'token request',
      expect.stringMatching(/^--client-id or --client-secret-stdin: /),
    ]);
  });

  it.each(bends)('reports %s', async (_name, bend, step, words) => {
    forged.bend(bend);
    expect(await failures(oidcConnection(deps, forged))).toContainEqual([step, expect.stringMatching(words)]);
  });
});
