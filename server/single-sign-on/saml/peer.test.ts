import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type SamlProviderForTest, startSamlProvider } from '#test/providers/saml-provider-for-test.ts';
import { fetchWithCookies } from '#test/support/fetch-with-cookies.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { addPortalKey, portalKeys } from '../portal-keys.ts';
import type { SamlConnection } from '../sso-connection.ts';
import { samlMetadata } from './messages.ts';
import { readSamlMetadata } from './provider-metadata.ts';
import { readSamlAnswer, startSaml } from './sign-in.ts';

const bob = 'bob@corp-b.example';

const portal = portalOfFile();
let provider: SamlProviderForTest;
let connection: SamlConnection;

beforeAll(async () => {
  provider = await startSamlProvider();
  await addPortalKey(portal.deps, portal.sql, 'next');
  await provider.trust(samlMetadata(portal.deps.config, await portalKeys(portal.deps)));
  const reading = readSamlMetadata(await provider.metadata(), new Date());
  if (reading.kind === 'refused') throw new Error(reading.problem);
  const settings = { ...reading.settings, metadataUrl: provider.metadataUrl, mayBegin: false, wantsEncryption: false };
  connection = { protocol: 'saml', settings, attributes: {} } as unknown as SamlConnection;
}, 180_000);
afterAll(() => provider?.close());
// The provider uses the real clock.
beforeEach(() => portal.wait(Date.now() - portal.deps.now().getTime()));

/** A person without JavaScript at the provider: opens an address, signs in or cancels; returns the answer to post. */
async function visit(url: string, { cancel = false, subject = '' } = {}) {
  const send = fetchWithCookies();
  const go = async (to: string, form?: Record<string, string>): Promise<string> => {
    const answer = await send(to, form);
    const location = answer.headers.get('location');
    return location ? await go(new URL(location, to).href) : await answer.text();
  };
  const page = await go(url);
  const state = unescaped(/name="state" value="([^"]*)"/.exec(page)?.[1] ?? page);
  const answer = cancel
    ? await go(`${provider.origin}/sign-in?${new URLSearchParams({ cancel: '1', state })}`)
    : await go(`${provider.origin}/sign-in`, { state, email: bob, subject });
  const value = (name: string) => unescaped(new RegExp(`name="${name}" value="([^"]*)"`).exec(answer)?.[1] ?? '');
  const action = unescaped(/<form[^>]* action="([^"]*)"/.exec(answer)?.[1] ?? answer);
  return { action, samlResponse: value('SAMLResponse'), relayState: value('RelayState') };
}

const unescaped = (text: string) =>
  text.replaceAll('&#x3A;', ':').replaceAll('&#x2F;', '/').replaceAll('&quot;', '"').replaceAll('&amp;', '&');

/** A whole visit, begun by us. */
async function signIn(more: { cancel?: boolean; subject?: string } = {}) {
  const started = await startSaml(portal.deps, connection, { state: 'state-1' });
  if (started.kind === 'refused') throw new Error(started.words);
  const answer = await visit(started.url, more);
  const read = await readSamlAnswer(portal.deps, connection, { field: answer.samlResponse, kept: started.kept });
  return { ...answer, read };
}

describe('with SimpleSAMLphp', () => {
  const ac = 'urn:oasis:names:tc:SAML:2.0:ac:classes:';
  it.each<[string, Parameters<SamlProviderForTest['set']>[0], object]>([
    ['signed twice', {}, { authenticationContexts: [`${ac}PasswordProtectedTransport`] }],
    [
      'with a signature on the assertion alone',
      { signs: 'assertion', authnContext: `${ac}TimeSyncToken` },
      { authenticationContexts: [`${ac}TimeSyncToken`] },
    ],
    ['encrypted, by AES-CBC', { encrypts: true }, {}],
  ])('a visit begun by us succeeds: %s', async (_what, options, more) => {
    await provider.set(options);
    const { action, relayState, samlResponse, read } = await signIn({ subject: 'person-7' });
    expect([action, relayState]).toEqual(['http://localhost:8080/portal/authenticate/saml/acs', 'state-1']);
    expect(Buffer.from(samlResponse, 'base64').includes('xmlenc#aes128-cbc')).toBe(options.encrypts === true);
    const identity = { subject: 'person-7', emails: [bob], emailVerified: false, ...more };
    expect(read).toMatchObject({ kind: 'ok', identity });
  });

  it('SA-02 SA-15 SA-35 SA-40 a weak signature, or a name for one visit, is refused', async () => {
    for (const [options, words] of [
      [{ signs: 'response' }, /Assertion is not signed/],
      [{ algorithm: 'rsa-sha1' }, /Response is not verified.*sha1/],
      [{ encrypts: true, signs: 'assertion' }, /AES-CBC, which requires a signed response/],
      [{ nameFormat: 'transient' }, /transient/],
    ] as const) {
      await provider.set(options);
      if ('signs' in options && options.signs === 'response') await provider.trust(await metadataThatWantNothing());
      const { read } = await signIn();
      expect(read, JSON.stringify(options)).toMatchObject({ kind: 'refused', words: expect.stringMatching(words) });
    }
  });

  it('SA-22 a cancelled visit returns with its words', async () => {
    await provider.set({});
    const { relayState, read } = await signIn({ cancel: true });
    expect(relayState).toBe('state-1');
    const words = expect.stringMatching(/^the provider says "[^"]*:Responder", "[^"]*:AuthnFailed": "cancelled"$/);
    expect(read).toEqual({ kind: 'refused', reason: 'provider-refused', words });
  });

  it('SA-41 it refuses a request not signed by our key', async () => {
    const started = await startSaml(portal.deps, connection, { state: 'state-1' });
    if (started.kind === 'refused') throw new Error(started.words);
    const page = await (await fetch(started.url.replace('state-1', 'state-2'), { redirect: 'follow' })).text();
    expect(page).not.toContain('Sign in at the identity provider');
    const good = await (await fetch(started.url, { redirect: 'follow' })).text();
    expect(good).toContain('Sign in at the identity provider');
  });
});

/** Our metadata without requiring signed assertions, which the provider respects. */
async function metadataThatWantNothing(): Promise<string> {
  const keys = await portalKeys(portal.deps);
  return samlMetadata(portal.deps.config, keys).replace(' WantAssertionsSigned="true"', '');
}
