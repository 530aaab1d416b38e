import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bend, startForgedProvider } from '#test/providers/forged-openid-provider.ts';
import {
  type OpenIdProvider,
  type OpenIdProviderOptions,
  startOpenIdProvider,
} from '#test/providers/openid-provider-for-test.ts';
import { portalOfFile, sharedByFile } from '#test/support/portal-of-file.ts';
import { oidcConnection } from '#test/support/sso-for-test.ts';
import type { Deps } from '../../deps.ts';
import { publicAddress, redirectUri as redirectUriOf } from '../addresses.ts';
import type { OidcConnection } from '../sso-connection.ts';
import { checkOidc } from './check-oidc.ts';

let deps: Deps;
let redirectUri: string;
const opened: OpenIdProvider[] = [];
const portal = portalOfFile();
const forged = sharedByFile(() => startForgedProvider(portal.deps));
let provider: OpenIdProvider;
beforeAll(async () => {
  ({ deps } = portal);
  redirectUri = redirectUriOf(deps.config, { key: 'customer' });
  // The provider uses the real clock.
  portal.wait(Date.now() - deps.now().getTime());
  provider = await open({ redirectUris: [redirectUri] });
});
afterAll(async () => void (await Promise.all(opened.map((one) => one.close()))));

async function open(options: OpenIdProviderOptions): Promise<OpenIdProvider> {
  const made = await startOpenIdProvider(options);
  opened.push(made);
  return made;
}

/** The steps that failed, with their words. */
async function failures(connection: OidcConnection): Promise<[string, string][]> {
  const steps = await checkOidc(deps, connection);
  return steps.filter(({ ok }) => !ok).map(({ step, words }) => [step, words]);
}

describe('a connection at a certified provider', () => {
  it('passes if all is right', async () => {
    const steps = await checkOidc(deps, oidcConnection(deps, provider));
    expect(steps.filter(({ ok }) => !ok)).toEqual([]);
    expect(steps.map(({ step, words }) => [step, words])).toEqual([
      ['discovery', `${provider.issuer} answers, and its endpoints are https`],
      ['response type', 'the provider offers the authorization code'],
      ['PKCE', 'the provider announces S256'],
      ['keys', '1 of 1 can check signatures'],
      ['client authentication', expect.stringContaining('client_secret_basic')],
      ['sign-in request', 'the provider knows the client id and the redirect URI'],
      ['token request', 'the provider accepts our client authentication, by client_secret_basic'],
    ]);
  });

  it('names a wrong client id, a wrong secret, or a missing one', async () => {
    expect(await failures(oidcConnection(deps, { ...provider, clientId: 'nobody' }))).toEqual([
      ['sign-in request', '--client-id: the provider does not know nobody'],
      ['token request', expect.stringMatching(/^--client-id or --client-secret-stdin: .*invalid_client/)],
    ]);
    expect(await failures(oidcConnection(deps, { ...provider, clientSecret: 'wrong' }))).toEqual([
      ['token request', expect.stringMatching(/^--client-secret-stdin: .*invalid_client/)],
    ]);
    expect(await failures(oidcConnection(deps, provider, { sealedSecret: null }))).toEqual([
      ['client authentication', '--client-secret-stdin: the connection has no client secret'],
    ]);
  });

  it('names a redirect URI that the provider does not know, and the portal’s keys', async () => {
    expect(
      await failures(oidcConnection(deps, await open({ redirectUris: ['https://old.example/callback'] }))),
    ).toEqual([['sign-in request', `redirect URI: the provider does not know it; register ${redirectUri} there`]]);
    const clientKeys = { keys: [forged.key.jwk] };
    const byKey = await open({ redirectUris: [redirectUri], clientAuthentication: 'private_key_jwt', clientKeys });
    expect(await failures(oidcConnection(deps, byKey, { settings: { clientAuthentication: 'privateKey' } }))).toEqual([
      ['token request', expect.stringContaining(`must know the keys at ${publicAddress(deps.config, 'oidcKeys')}`)],
    ]);
  });
});

describe('a provider that is not as it must be', () => {
  it('is reported if it calls itself something else, or has no discovery', async () => {
    const at = (issuer: string) => failures(oidcConnection(deps, { ...provider, issuer }));
    expect(await at(`${provider.issuer}/`)).toEqual([
      ['discovery', `--issuer: the discovery document of ${provider.issuer}/ names another issuer, ${provider.issuer}`],
    ]);
    const elsewhere = `${provider.issuer}/elsewhere`;
    expect(await at(elsewhere)).toEqual([
      ['discovery', `--issuer: ${elsewhere}/.well-known/openid-configuration answers 404`],
    ]);
  });

  const announcing = (more: object): Bend => ({ discovery: (honest) => ({ ...honest, ...more }) });
  const methods = (...names: string[]) => announcing({ token_endpoint_auth_methods_supported: names });
  const tokenAnswers = (status: number, error: () => string): Bend => ({
    instead: {
      token: (response) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error: error() })),
    },
  });
  const onlyByPost = () => (forged.tokenRequests.at(-1)?.authorization ? 'invalid_client' : 'invalid_grant');

  it.each<[name: string, bend: Bend, step: string, words: RegExp]>([
    [
      'no code',
      announcing({ response_types_supported: ['id_token'] }),
      'response type',
      /does not offer response_type/,
    ],
    ['keys for encryption', { keys: () => ({ keys: [{ kty: 'RSA', use: 'enc' }] }) }, 'keys', /none of the 1 keys/],
    [
      'signatures that are not accepted, with those that are',
      announcing({ id_token_signing_alg_values_supported: ['HS512'] }),
      'signature',
      /announces only HS512; accepted are RS256, .*EdDSA/,
    ],
    ['keys that are away', { instead: { keys: (response) => response.writeHead(503).end() } }, 'keys', /answers 503/],
    [
      'other methods of authentication',
      methods('tls_client_auth'),
      'client authentication',
      /offers tls_client_auth, but not client_secret_basic or client_secret_post/,
    ],
    ['a token endpoint that is away', tokenAnswers(503, () => ''), 'token request', /\/token answers 503/],
    [
      'a client that may be unknown',
      tokenAnswers(401, () => 'invalid_client'),
      'token request',
      /^--client-id or --client-secret-stdin: /,
    ],
    [
      'both ways to send the secret, of which it accepts the other one, and which option to set',
      { ...methods('client_secret_post', 'client_secret_basic'), ...tokenAnswers(400, onlyByPost) },
      'token request',
      /^the secret is right, but the provider expects it by client_secret_post: vestibule connection set customer --client-auth post$/,
    ],
  ])('is reported with %s', async (_name, bend, step, words) => {
    forged.bend(bend);
    expect(await failures(oidcConnection(deps, forged))).toContainEqual([step, expect.stringMatching(words)]);
  });
});
