import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type SamlProviderForTest, startSamlProvider } from '#test/providers/saml-provider-for-test.ts';
import { type PortalForTest, portalForTest } from '#test/support/portal-for-test.ts';
import { addPortalKey, portalKeys } from '../portal-keys.ts';
import type { SamlConnection } from '../sso-connection.ts';
import { samlMetadata } from './messages.ts';
import { readSamlMetadata } from './provider-metadata.ts';
import { readSamlAnswer, startSaml } from './sign-in.ts';

const bob = 'bob@corp-b.example';

let portal: PortalForTest;
let provider: SamlProviderForTest;
let connection: SamlConnection;

beforeAll(async () => {
  portal = await portalForTest();
  provider = await startSamlProvider();
  await addPortalKey(portal.deps, portal.sql, 'next');
  await provider.trust(samlMetadata(portal.deps.config, await portalKeys(portal.deps)));
  const reading = readSamlMetadata(await provider.metadata(), { now: new Date() });
  if (reading.kind === 'refused') throw new Error(reading.problem);
  const settings = { ...reading.settings, metadataUrl: provider.metadataUrl, mayBegin: false, wantsEncryption: false };
  connection = { protocol: 'saml', settings, attributes: {} } as unknown as SamlConnection;
}, 180_000);
afterAll(async () => {
  await provider?.close();
  await portal.close();
});
// The provider uses the real clock.
beforeEach(() => portal.wait(Date.now() - portal.deps.now().getTime()));

/**
 * A browser without JavaScript at the provider: opens an address, signs in or cancels, and returns the answer to post.
 */
async function visit(url: string, { cancel = false, subject = '' } = {}) {
  const cookies = new Map<string, string>();
  const go = async (to: string, form?: Record<string, string>): Promise<{ url: string; text: string }> => {
    const answer = await fetch(to, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const location = answer.headers.get('location');
    if (location) return await go(new URL(location, to).href);
    return { url: to, text: await answer.text() };
  };
  const page = await go(url);
  const state = unescaped(/name="state" value="([^"]*)"/.exec(page.text)?.[1] ?? page.text);
  const answer = cancel
    ? await go(`${provider.origin}/sign-in?${new URLSearchParams({ cancel: '1', state })}`)
    : await go(`${provider.origin}/sign-in`, { state, email: bob, subject });
  const value = (name: string) => unescaped(new RegExp(`name="${name}" value="([^"]*)"`).exec(answer.text)?.[1] ?? '');
  const action = unescaped(/<form[^>]* action="([^"]*)"/.exec(answer.text)?.[1] ?? answer.text);
  return { action, samlResponse: value('SAMLResponse'), relayState: value('RelayState') };
}

const unescaped = (text: string) =>
  text.replaceAll('&#x3A;', ':').replaceAll('&#x2F;', '/').replaceAll('&quot;', '"').replaceAll('&amp;', '&');

/** A whole visit, begun by us. */
async function signIn(more: { cancel?: boolean; subject?: string } = {}) {
  const started = await startSaml(portal.deps, connection, { state: 'state-1' });
  if (started.kind === 'refused') throw new Error(started.words);
  const answer = await visit(started.url, more);
  return {
    ...answer,
    read: await readSamlAnswer(portal.deps, connection, {
      field: answer.samlResponse,
      kept: started.kept,
    }),
  };
}

const persistent = { subject: 'person-7', email: bob, emailVerified: false };

describe('with SimpleSAMLphp', () => {
  it('a visit begun by us succeeds', async () => {
    await provider.set({});
    const { action, relayState, read } = await signIn({ subject: 'person-7' });
    expect(action).toBe('http://localhost:8080/portal/authenticate/saml/acs');
    expect(relayState).toBe('state-1');
    expect(read).toMatchObject({
      kind: 'ok',
      identity: {
        ...persistent,
        authenticationContexts: ['urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport'],
      },
    });
  });

  it('signatures may be on the assertion alone', async () => {
    await provider.set({ signs: 'assertion', authnContext: 'urn:oasis:names:tc:SAML:2.0:ac:classes:TimeSyncToken' });
    const { read } = await signIn({ subject: 'person-7' });
    const authenticationContexts = ['urn:oasis:names:tc:SAML:2.0:ac:classes:TimeSyncToken'];
    expect(read).toMatchObject({ kind: 'ok', identity: { ...persistent, authenticationContexts } });
  });

  it('the assertion may be encrypted, which it does by AES-CBC', async () => {
    await provider.set({ encrypts: true });
    const { samlResponse, read } = await signIn({ subject: 'person-7' });
    expect(Buffer.from(samlResponse, 'base64').toString()).toContain('xmlenc#aes128-cbc');
    expect(read).toMatchObject({ kind: 'ok', identity: persistent });
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

  it('a cancelled visit returns with its words', async () => {
    await provider.set({});
    const { relayState, read } = await signIn({ cancel: true });
    expect(relayState).toBe('state-1');
    expect(read).toEqual({
      kind: 'refused',
      reason: 'provider-refused',
      words:
        'the provider says "urn:oasis:names:tc:SAML:2.0:status:Responder", "urn:oasis:names:tc:SAML:2.0:status:AuthnFailed": "cancelled"',
    });
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
