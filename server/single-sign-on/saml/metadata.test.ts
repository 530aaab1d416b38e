import { describe, expect, it } from 'vitest';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { addPortalKey, portalKeys } from '../portal-keys.ts';
import { ds, md } from './names.ts';
import { attributeOf, childrenNamed, descendantsNamed, readXml, textOf, type XmlElement } from './xml.ts';

const portal = portalOfFile();

const get = () => portal.send({ url: '/portal/authenticate/saml/metadata' });

describe('the metadata of the portal', () => {
  it('are XML, and not cached', async () => {
    const { statusCode, headers, body } = await get();
    expect(statusCode).toBe(200);
    expect(headers['content-type']).toBe('application/samlmetadata+xml');
    expect(headers['cache-control']).toBe('no-store');
    expect(readXml(body)).toMatchObject({ kind: 'ok' });
  });

  it('say where answers go, and what has to be signed', async () => {
    const root = await rootOf();
    expect(attributeOf(root, 'entityID')).toBe('http://localhost:8080/portal/authenticate/saml/metadata');
    const [role] = childrenNamed(root, md('SPSSODescriptor'));
    expect(role && attributeOf(role, 'AuthnRequestsSigned')).toBe('true');
    expect(role && attributeOf(role, 'WantAssertionsSigned')).toBe('true');
    const [service, another] = descendantsNamed(root, md('AssertionConsumerService'));
    expect(another).toBeUndefined();
    expect(service && attributeOf(service, 'Binding')).toBe('urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST');
    expect(service && attributeOf(service, 'Location')).toBe('http://localhost:8080/portal/authenticate/saml/acs');
  });

  it('say where single logout goes, by both bindings and before where answers go, as in the schema', async () => {
    const root = await rootOf();
    const services = descendantsNamed(root, md('SingleLogoutService'));
    const location = 'http://localhost:8080/portal/authenticate/saml/logout';
    expect(services.map((service) => [attributeOf(service, 'Binding'), attributeOf(service, 'Location')])).toEqual([
      ['urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect', location],
      ['urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST', location],
    ]);
    expect((await get()).body).toMatch(/KeyDescriptor>\s*<SingleLogoutService[\s\S]*<AssertionConsumerService/);
  });

  it('hold every key for signing and for encryption, the current one first', async () => {
    await addPortalKey(portal.deps, portal.sql, 'next');
    const certificates = (await portalKeys(portal.deps)).map(({ certificate }) => plain(certificate));
    expect(certificates).toHaveLength(2);
    const keys = descendantsNamed(await rootOf(), md('KeyDescriptor'));
    for (const use of ['signing', 'encryption']) {
      const published = keys
        .filter((key) => attributeOf(key, 'use') === use)
        .flatMap((key) => descendantsNamed(key, ds('X509Certificate')))
        .map(textOf);
      expect(published, use).toEqual(certificates);
    }
  });
});

async function rootOf(): Promise<XmlElement> {
  const reading = readXml((await get()).body);
  if (reading.kind === 'refused') throw new Error(reading.problem);
  return reading.root;
}

const plain = (certificate: string) => certificate.replace(/-----[A-Z ]+-----|\s/g, '');
