import { expect, it } from 'vitest';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { addPortalKey, portalKeys } from '../portal-keys.ts';
import { attributeOf, childrenNamed, descendantsNamed, ds, md, readXml, textOf, type XmlElement } from './xml.ts';

const portal = portalOfFile();
const get = () => portal.send({ url: '/portal/authenticate/saml/metadata' });
const attributes = (element: XmlElement, ...names: string[]) => names.map((name) => attributeOf(element, name));

async function roleOf(): Promise<XmlElement> {
  const reading = readXml((await get()).body);
  if (reading.kind === 'refused') throw new Error(reading.problem);
  expect(attributeOf(reading.root, 'entityID')).toBe('http://localhost:8080/portal/authenticate/saml/metadata');
  const [role] = childrenNamed(reading.root, md('SPSSODescriptor'));
  return role ?? expect.fail('no role');
}

it('the metadata of the portal are XML, not cached, and say where messages go and what has to be signed', async () => {
  const { statusCode, headers, body } = await get();
  const type = 'application/samlmetadata+xml';
  expect({ statusCode, headers }).toMatchObject({ statusCode: 200, headers: { 'content-type': type } });
  expect(headers['cache-control']).toBe('no-store');
  const role = await roleOf();
  expect(attributes(role, 'AuthnRequestsSigned', 'WantAssertionsSigned')).toEqual(['true', 'true']);
  const services = (name: string) =>
    descendantsNamed(role, md(name)).map((service) => attributes(service, 'Binding', 'Location').map(lastPart));
  expect(services('AssertionConsumerService')).toEqual([['HTTP-POST', '/portal/authenticate/saml/acs']]);
  expect(services('SingleLogoutService')).toEqual([
    ['HTTP-Redirect', '/portal/authenticate/saml/logout'],
    ['HTTP-POST', '/portal/authenticate/saml/logout'],
  ]);
  // In the order of the schema.
  expect(body).toMatch(/KeyDescriptor>\s*<SingleLogoutService[\s\S]*<AssertionConsumerService/);
});

const lastPart = (text: string | null) =>
  text?.replace('urn:oasis:names:tc:SAML:2.0:bindings:', '').replace('http://localhost:8080', '');

it('the metadata hold every key for signing and for encryption, the current one first', async () => {
  await addPortalKey(portal.deps, portal.sql, 'next');
  const keys = await portalKeys(portal.deps);
  const certificates = keys.map(({ certificate }) => certificate.replace(/-----[A-Z ]+-----|\s/g, ''));
  expect(certificates).toHaveLength(2);
  const published = descendantsNamed(await roleOf(), md('KeyDescriptor'));
  for (const use of ['signing', 'encryption']) {
    const ofUse = published.filter((key) => attributeOf(key, 'use') === use);
    expect(ofUse.flatMap((key) => descendantsNamed(key, ds('X509Certificate'))).map(textOf), use).toEqual(certificates);
  }
});
