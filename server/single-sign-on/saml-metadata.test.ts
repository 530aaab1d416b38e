import Fastify from 'fastify';
import { ServiceProvider } from 'samlify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PortalForTest, portalForTest } from '#server/testing/portal-for-test.ts';
import { addPortalKey, portalKeys } from './portal-keys.ts';
import { samlMetadataRoute } from './saml-metadata-route.ts';
import { readXml } from './strict-xml.ts';

let portal: PortalForTest;
beforeAll(async () => {
  portal = await portalForTest();
});
afterAll(() => portal.close());

async function get() {
  const app = Fastify();
  app.get('/metadata', samlMetadataRoute(portal.deps));
  return await app.inject('/metadata');
}

describe('the metadata of the portal', () => {
  it('are XML that may be kept for five minutes', async () => {
    const { statusCode, headers, body } = await get();
    expect(statusCode).toBe(200);
    expect(headers['content-type']).toBe('application/samlmetadata+xml');
    expect(headers['cache-control']).toBe('public, max-age=300');
    expect(readXml(body)).toMatchObject({ ok: true });
  });

  it('say to another implementation where answers go, and what has to be signed', async () => {
    const { entityMeta } = ServiceProvider({ metadata: (await get()).body });
    expect(entityMeta.getEntityID()).toBe('http://localhost:8080/portal/authenticate/saml/metadata');
    expect(entityMeta.getAssertionConsumerService('post')).toBe('http://localhost:8080/portal/authenticate/saml/acs');
    expect(entityMeta.isAuthnRequestSigned()).toBe(true);
    expect(entityMeta.isWantAssertionsSigned()).toBe(true);
  });

  it('hold every key for signing and for encryption, the current one first', async () => {
    await addPortalKey(portal.deps, portal.sql, 'next');
    const certificates = (await portalKeys(portal.deps)).map(({ certificate }) => plain(certificate));
    expect(certificates).toHaveLength(2);
    const { entityMeta } = ServiceProvider({ metadata: (await get()).body });
    for (const use of ['signing', 'encryption'])
      expect([entityMeta.getX509Certificate(use)].flat().map(plain)).toEqual(certificates);
  });
});

const plain = (certificate: string) => certificate.replace(/-----[A-Z ]+-----|\s/g, '');
