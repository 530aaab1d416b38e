import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { messageAt } from '#test/forgeries/forged-saml-logout.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { acs, bounced, samlForTest } from '#test/support/saml-for-test.ts';
import { addPortalKey, portalKeys } from '../portal-keys.ts';
import { startSaml } from './sign-in.ts';
import { attributeOf, childrenNamed, descendantsNamed, ds, md, readXml, textOf, type XmlElement } from './xml.ts';

const destinationRules = { origin: 'http://localhost:8080', basePath: '/portal', allowedOrigins: ['https://app.test'] };
const portal = portalOfFile({ config: { destinationRules } });

it('the metadata of the portal say where messages go and what is signed, and hold every key, the current one first', async () => {
  await portalKeys(portal.deps);
  await addPortalKey(portal.deps, portal.sql, 'next');
  const { headers, body } = await portal.send({ url: '/portal/authenticate/saml/metadata' });
  expect(headers).toMatchObject({ 'content-type': 'application/samlmetadata+xml', 'cache-control': 'no-store' });
  const reading = readXml(body);
  if (reading.kind === 'refused') throw new Error(reading.problem);
  const attributes = (of: XmlElement, ...names: string[]) => names.map((name) => attributeOf(of, name));
  expect(attributeOf(reading.root, 'entityID')).toBe('http://localhost:8080/portal/authenticate/saml/metadata');
  const [role] = childrenNamed(reading.root, md('SPSSODescriptor')) as [XmlElement];
  expect(attributes(role, 'AuthnRequestsSigned', 'WantAssertionsSigned')).toEqual(['true', 'true']);
  const services = ['SingleLogoutService', 'AssertionConsumerService'].flatMap((name) =>
    descendantsNamed(role, md(name)).map((service) => attributes(service, 'Binding', 'Location')),
  );
  const binding = (name: string) => `urn:oasis:names:tc:SAML:2.0:bindings:HTTP-${name}`;
  const logout = 'http://localhost:8080/portal/authenticate/saml/logout';
  expect(services).toEqual([
    [binding('Redirect'), logout],
    [binding('POST'), logout],
    [binding('POST'), acs],
  ]);
  // In the order of the schema.
  expect(body).toMatch(/KeyDescriptor>\s*<SingleLogoutService[\s\S]*<AssertionConsumerService/);
  const keys = (await portalKeys(portal.deps)).map(({ certificate }) =>
    certificate.replace(/-----[A-Z ]+-----|\s/g, ''),
  );
  for (const use of ['signing', 'encryption']) {
    const ofUse = descendantsNamed(role, md('KeyDescriptor')).filter((key) => attributeOf(key, 'use') === use);
    expect(ofUse.flatMap((key) => descendantsNamed(key, ds('X509Certificate'))).map(textOf)).toEqual(keys);
  }
});

it('SA-41 a request has all required parts, a new ID of 160 random bits, and a signature over the query as sent', async () => {
  const { connection, keys } = await samlForTest(portal);
  const start = (signOnUrl: string) => startSaml(portal.deps, connection({ signOnUrl }), { state: 'state-1' });
  const ids = new Set<string>();
  for (let requests = 0; requests < 5; requests += 1) {
    const started = await start('https://idp.corp-b.example/sso?tenant=b');
    if (started.kind === 'refused') throw new Error(started.words);
    const { requestId } = started.kept as { requestId: string };
    ids.add(requestId);
    expect(requestId).toMatch(/^_[0-9a-f]{40}$/);
    expect(started.url).toMatch(/^https:\/\/idp\.corp-b\.example\/sso\?tenant=b&SAMLRequest=/);
    expect(new URL(started.url).searchParams.get('SigAlg')).toMatch(/#rsa-sha256$/);
    const asked = messageAt(started.url, keys.portalCertificate);
    expect(() => messageAt(started.url.replace('state-1', 'state-2'), keys.portalCertificate)).toThrow('not true');
    expect(asked).toEqual({
      relayState: 'state-1',
      xml: `<samlp:AuthnRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${requestId}" Version="2.0" IssueInstant="${portal.deps.now().toISOString()}" Destination="https://idp.corp-b.example/sso?tenant=b" ProtocolBinding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" AssertionConsumerServiceURL="${acs}"><saml:Issuer>http://localhost:8080/portal/authenticate/saml/metadata</saml:Issuer><samlp:NameIDPolicy AllowCreate="true"/></samlp:AuthnRequest>`,
    });
  }
  expect(ids.size).toBe(5);
  const fresh = await startSaml(portal.deps, connection({}), { state: 'state-1', freshSignIn: true });
  const { xml } = messageAt(fresh.kind === 'ok' ? fresh.url : '', keys.portalCertificate);
  expect(xml).toContain(' ForceAuthn="true">');
  for (const nowhere of ['http://idp.corp-b.example/sso', 'javascript:alert(1)', 'https://a:b@idp.corp-b.example/'])
    expect(await start(nowhere)).toMatchObject({ kind: 'refused', reason: 'connection-broken' });
});

it.each([
  ['"><script>alert(1)</script>', "'&lt;&quot;\r\n\t&amp;"],
  ['A'.repeat(250_000), '</form><form action="https://evil.example">'],
])(
  'SA-37 the page that posts an answer on carries it whole and as text alone, to us, by its one script',
  async (SAMLResponse, RelayState) => {
    const { page, form, url } = await bounced(portal, { SAMLResponse, RelayState });
    expect([form, url]).toEqual([{ SAMLResponse, RelayState }, '/portal/authenticate/saml/finish']);
    expect(page.body.match(/<(?:script|form)\b/g)).toEqual(['<form', '<script']);
    const [, script = ''] = /<script>(.*)<\/script>/.exec(page.body) ?? [];
    const hash = createHash('sha256').update(script).digest('base64');
    expect(page.headers).toMatchObject({
      'cache-control': 'no-store',
      'content-security-policy': `default-src 'none'; script-src 'sha256-${hash}'; img-src 'self'; form-action 'self' https://app.test; base-uri 'none'; frame-ancestors 'none'`,
    });
  },
);
