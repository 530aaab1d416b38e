import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { askingClientId } from '#test/providers/lemonldap/configuration.ts';
import { type Lemonldap, startLemonldap } from '#test/providers/lemonldap-for-test.ts';
import { LemonldapVisitor } from '#test/providers/walk-lemonldap.ts';
import { type PortalForTest, portalForTest } from '#test/support/portal-for-test.ts';
import { oidcConnection, startVisit } from '#test/support/sso-for-test.ts';
import { publicAddress } from './addresses.ts';
import { readOidcAnswer } from './oidc/callback-route.ts';
import { portalKeys } from './portal-keys.ts';
import { samlMetadata } from './saml/messages.ts';
import { readSamlMetadata } from './saml/provider-metadata.ts';
import { readSamlAnswer, startSaml } from './saml/sign-in.ts';
import type { SamlConnection } from './sso-connection.ts';

const email = 'lena@lemon.test';
const clientId = 'vestibule';
// With every character that stays unencoded. It reads the base64 only up to the first `+` or `/`.
const clientSecret = "it-is_a.secret!of~the*client'(1)";

let portal: PortalForTest;
let provider: Lemonldap;
let lena: LemonldapVisitor;

beforeAll(async () => {
  portal = await portalForTest();
  const { config } = portal.deps;
  const callback = publicAddress(config, 'oidcCallback');
  provider = await startLemonldap(
    { lena: email },
    {
      clientId,
      clientSecret,
      redirectUris: [`${callback}/customer`],
      postLogoutRedirectUris: [],
      samlMetadata: samlMetadata(config, await portalKeys(portal.deps)),
    },
  );
}, 180_000);
afterAll(async () => {
  await provider?.close();
  await portal.close();
});
beforeEach(() => {
  // The provider's clock is the real one.
  portal.wait(Date.now() - portal.deps.now().getTime());
  lena = new LemonldapVisitor(provider, 'lena');
});

describe('LemonLDAP::NG by OpenID Connect', () => {
  async function signIn(as = clientId, more = {}) {
    const connection = oidcConnection(portal.deps, { issuer: provider.issuer, clientId: as, clientSecret });
    const visit = await startVisit(portal.deps, connection);
    const { url } = await lena.visit(visit.url, more);
    return await readOidcAnswer(portal.deps, connection, { ...visit, url });
  }

  it('says who the person is, the second time without asking', async () => {
    const identity = { subject: 'lena', email, emailVerified: true };
    expect(await signIn()).toMatchObject({ kind: 'ok', identity });
    expect(await signIn()).toMatchObject({ kind: 'ok', identity });
  });

  it('reports that consent was refused', async () => {
    expect(await signIn(askingClientId({ clientId }), { refuses: true })).toEqual({
      kind: 'refused',
      reason: 'provider-refused',
      words: expect.stringContaining('consent'),
      isCancelled: true,
    });
  });
});

describe('LemonLDAP::NG by SAML', () => {
  async function connection(): Promise<SamlConnection> {
    const reading = readSamlMetadata(await provider.metadata(), { now: new Date() });
    if (reading.kind === 'refused') throw new Error(reading.problem);
    const settings = {
      ...reading.settings,
      metadataUrl: provider.metadataUrl,
      mayBegin: false,
      wantsEncryption: false,
    };
    return { protocol: 'saml', settings, attributes: {} } as unknown as SamlConnection;
  }

  async function signIn() {
    const started = await startSaml(portal.deps, await connection(), { state: 'state-1' });
    if (started.kind === 'refused') throw new Error(started.words);
    const { url, form } = await lena.visit(started.url);
    expect(url.href).toBe(publicAddress(portal.deps.config, 'samlAnswer'));
    expect(form.RelayState).toBe('state-1');
    const answer = { field: form.SAMLResponse ?? '', kept: started.kept };
    return await readSamlAnswer(portal.deps, await connection(), answer);
  }

  it('says who the person is by one name, the second time without asking', async () => {
    const first = await signIn();
    expect(first).toMatchObject({ kind: 'ok', identity: { email, emailVerified: false } });
    const subject = first.kind === 'ok' ? first.identity.subject : '';
    expect(subject).toMatch(/\S{8,}/);
    expect(await signIn()).toMatchObject({ kind: 'ok', identity: { subject, email } });
  });

  it('SA-41 it refuses a request not signed by our key', async () => {
    const started = await startSaml(portal.deps, await connection(), { state: 'state-1' });
    if (started.kind === 'refused') throw new Error(started.words);
    await expect(lena.visit(started.url.replace('state-1', 'state-2'))).rejects.toThrow(/LemonLDAP::NG/);
  });
});
