import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bend, startForgedProvider } from '#test/providers/forged-openid-provider.ts';
import {
  type OpenIdProvider,
  type OpenIdProviderOptions,
  startOpenIdProvider,
} from '#test/providers/openid-provider-for-test.ts';
import { portalOfFile, sharedByFile } from '#test/support/portal-of-file.ts';
import { metadataXml } from '#test/support/saml-for-test.ts';
import { oidcConnection } from '#test/support/sso-for-test.ts';
import { type Conversation, ProviderFailure } from '../http/provider-fetch.ts';
import { day } from '../limits.ts';
import { publicAddress, redirectUri as redirectUriOf } from './addresses.ts';
import { checkConnection } from './check-connection.ts';
import { makeCertificate } from './portal-keys.ts';
import { certificateFacts } from './saml/provider-metadata.ts';
import type { OidcConnection, SamlConnection, SamlSettings } from './sso-connection.ts';

const portal = portalOfFile();

describe('an OpenID connection', () => {
  const opened: OpenIdProvider[] = [];
  const forged = sharedByFile(() => startForgedProvider(portal.deps));
  let provider: OpenIdProvider;
  let redirectUri: string;
  beforeAll(async () => {
    redirectUri = redirectUriOf(portal.deps.config, { key: 'customer' });
    // The provider uses the real clock.
    portal.wait(Date.now() - portal.deps.now().getTime());
    provider = await open({ redirectUris: [redirectUri] });
  });
  afterAll(async () => void (await Promise.all(opened.map((one) => one.close()))));
  async function open(options: OpenIdProviderOptions): Promise<OpenIdProvider> {
    opened.push(await startOpenIdProvider(options));
    return opened.at(-1) as OpenIdProvider;
  }
  const connection = (...parts: [Parameters<typeof oidcConnection>[1], Parameters<typeof oidcConnection>[2]?]) =>
    oidcConnection(portal.deps, ...parts);
  /** The steps that failed, with their words. */
  const failures = async (of: OidcConnection) =>
    (await checkConnection(portal.deps, of)).filter(({ ok }) => !ok).map(({ step, words }) => [step, words]);

  it('passes if all is right', async () => {
    expect((await checkConnection(portal.deps, connection(provider))).map(({ step, ok }) => [step, ok])).toEqual([
      ['discovery', true],
      ['keys', true],
      ['sign-in request', true],
      ['token request', true],
    ]);
  });

  it('names what is wrong: client id, secret, redirect URI, the portal’s key, the issuer', async () => {
    const clientKeys = { keys: [forged.key.jwk] };
    const byKey = await open({ redirectUris: [redirectUri], clientAuthentication: 'private_key_jwt', clientKeys });
    const other = await open({ redirectUris: ['https://old.example/callback'] });
    const secret = /^--client-id, --client-secret-stdin or --client-auth: .*invalid_client/;
    for (const [of, ...expected] of [
      [
        connection({ ...provider, clientId: 'nobody' }),
        /^--client-id nobody or redirect URI .* is unknown there: the provider answers 400/,
        secret,
      ],
      [connection({ ...provider, clientSecret: 'wrong' }), secret],
      [connection(provider, { sealedSecret: null }), /^--client-secret-stdin: the connection has no client secret$/],
      [connection(other), /redirect URI http.*customer is unknown there/],
      [
        connection(byKey, { settings: { clientAuthentication: 'privateKey' } }),
        new RegExp(`must know the keys at ${publicAddress(portal.deps.config, 'oidcKeys')}`),
      ],
      [connection({ ...provider, issuer: `${provider.issuer}/` }), /^--issuer: .* names another issuer/],
      [
        connection({ ...provider, issuer: `${provider.issuer}/else` }),
        /^--issuer: .*openid-configuration answers 404$/,
      ],
    ] as [OidcConnection, ...RegExp[]][])
      expect((await failures(of)).map(([, words]) => words)).toEqual(
        expected.map((words) => expect.stringMatching(words)),
      );
  });

  it.each<[string, Bend, string, RegExp]>([
    ['keys for encryption', { keys: () => ({ keys: [{ kty: 'RSA', use: 'enc' }] }) }, 'keys', /none of the 1 keys/],
    ['keys that are away', { instead: { keys: (response) => response.writeHead(503).end() } }, 'keys', /answers 503/],
    [
      'a token endpoint that is away',
      { instead: { token: (response) => response.writeHead(503).end() } },
      'token request',
      /\/token answers 503/,
    ],
  ])('is reported with %s', async (_name, bend, step, words) => {
    forged.bend(bend);
    expect(await failures(connection(forged))).toContainEqual([step, expect.stringMatching(words)]);
  });
});

describe('a SAML connection', () => {
  const now = () => portal.deps.now();
  const signOnUrl = 'https://idp.example/sso';
  const metadataUrl = 'https://idp.example/metadata';
  /** A certificate that expires in this many days: they are valid for three years. */
  const certificate = async (days: number) =>
    (await makeCertificate('idp', new Date(now().getTime() + (days - 3 * 365) * day))).certificate;
  let good: string;
  beforeAll(async () => {
    good = await certificate(365);
  });

  /** Each step as `step: words`, with `!` in front if it is not well. */
  async function check(settings: Partial<SamlSettings>, { page = 200, text = '' } = {}): Promise<string> {
    const defaults = { entityId: 'urn:idp', signOnUrl, certificates: [good], metadataUrl: null };
    const away = () => Promise.reject(new ProviderFailure('nobody answers'));
    const conversation = {
      look: () => (page > 0 ? Promise.resolve(new Response('', { status: page })) : away()),
      read: () => (text ? Promise.resolve(new Response(text)) : away()),
    } as unknown as Conversation;
    const connection = { protocol: 'saml', settings: { ...defaults, ...settings } } as SamlConnection;
    const steps = await checkConnection(portal.deps, connection, conversation);
    return steps.map(({ step, ok, words }) => `${ok ? '' : '!'}${step}: ${words}`).join('\n');
  }
  const metadata = (more = {}) => metadataXml({ entityId: 'urn:idp', signOnUrl, certificates: [good], ...more });

  it('is well, or says when certificates end and whether any is valid', async () => {
    const well = await check({ metadataUrl }, { text: metadata() });
    expect(well).not.toContain('!');
    expect(well).toMatch(/^certificate 1: it is valid until .*\n.*status 200\nmetadata: they match the settings$/s);
    const ended = await certificate(-1);
    const several = await check({ certificates: [await certificate(59), await certificate(61), ended, 'nothing'] });
    expect(several).toMatch(
      /^!certificate 1: .*\ncertificate 2: .*\n!certificate 3: it ended on.*\n!.* cannot be read\n/,
    );
    const none = await check({ certificates: [ended, await certificate(3 * 365 + 1)] });
    expect(none).toMatch(/\n!certificate 2: it begins on .*\n!certificates: none is valid now: nobody can sign in\n/);
  });

  it('has a sign-on address that is away, or metadata that differ, are another provider’s, or cannot be read', async () => {
    for (const [page, words] of [
      [0, /!sign-on address: .*nobody answers/],
      [503, /!sign-on address: it answers with status 503/],
      [400, /\nsign-on address/],
    ] as const)
      expect(await check({}, { page })).toMatch(words);
    const other = await certificate(366);
    const prints = [other, good].map((pem) => certificateFacts(pem)?.fingerprint);
    for (const [text, ...expected] of [
      [metadata({ signOnUrl: 'https://new.example/' }), /signOnUrl: "https:\/\/idp.*here, .*"https:\/\/new.* there/],
      [metadata({ certificates: [other] }), ...prints.map((print) => new RegExp(`certificates: ${print} is`))],
      [metadata({ entityId: 'urn:else' }), /entity id: "urn:idp" here, entity id: "urn:else" there/],
      ['<html>', /cannot be read/],
      ['', /nobody answers/],
    ] as [string, ...RegExp[]][])
      for (const words of expected) expect(await check({ metadataUrl }, { text })).toMatch(words);
  });
});
