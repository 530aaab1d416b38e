import { createVerify } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { type SamlForTest, samlForTest } from '#test/support/saml-for-test.ts';
import { addPortalKey } from '../portal-keys.ts';
import { startSaml } from './sign-in.ts';

let saml: SamlForTest;
const portal = portalOfFile();
beforeAll(async () => {
  saml = await samlForTest(portal);
});

type Started = Extract<Awaited<ReturnType<typeof startSaml>>, { kind: 'ok' }>;
async function start(signOnUrl = 'https://idp.corp-b.example/sso?tenant=b') {
  return await startSaml(portal.deps, saml.connection({ signOnUrl }), { state: 'state-1' });
}

describe('SA-41 the request', () => {
  it('goes to the provider by redirect with all required parts', async () => {
    const started = await start();
    if (started.kind === 'refused') throw new Error(started.words);
    const url = new URL(started.url);
    expect(url.href).toMatch(/^https:\/\/idp\.corp-b\.example\/sso\?tenant=b&/);
    expect(url.searchParams.get('RelayState')).toBe('state-1');
    const xml = inflateRawSync(Buffer.from(url.searchParams.get('SAMLRequest') ?? '', 'base64')).toString();
    expect(xml).toBe(
      `<samlp:AuthnRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${started.kept.requestId}" Version="2.0" IssueInstant="${portal.deps.now().toISOString()}" Destination="https://idp.corp-b.example/sso?tenant=b" ProtocolBinding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" AssertionConsumerServiceURL="http://localhost:8080/portal/authenticate/saml/acs"><saml:Issuer>http://localhost:8080/portal/authenticate/saml/metadata</saml:Issuer><samlp:NameIDPolicy AllowCreate="true"/></samlp:AuthnRequest>`,
    );
  });

  it('is signed by RSA with SHA-256, with the current key, over the query as sent', async () => {
    await addPortalKey(portal.deps, portal.sql, 'next');
    const started = await start();
    if (started.kind === 'refused') throw new Error(started.words);
    const query = started.url.slice(started.url.indexOf('SAMLRequest='));
    const [signed = '', signature = ''] = query.split('&Signature=');
    expect(new URL(started.url).searchParams.get('SigAlg')).toBe('http://www.w3.org/2001/04/xmldsig-more#rsa-sha256');
    const verify = (text: string) =>
      createVerify('sha256').update(text).verify(saml.keys.portalCertificate, decodeURIComponent(signature), 'base64');
    expect(verify(signed)).toBe(true);
    expect(verify(signed.replace('state-1', 'state-2'))).toBe(false);
  });

  it('has a new ID of 160 random bits each time', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, async () => ((await start()) as Started).kept.requestId));
    expect(new Set(ids).size).toBe(20);
    for (const id of ids) expect(id).toMatch(/^_[0-9a-f]{40}$/);
  });

  it.each(['http://idp.corp-b.example/sso', 'javascript:alert(1)', 'https://a:b@idp.corp-b.example/', 'nowhere'])(
    'is not sent to %s',
    async (signOnUrl) => {
      expect(await start(signOnUrl)).toMatchObject({ kind: 'refused', reason: 'connection-broken' });
    },
  );
});
