import { expect, it } from 'vitest';
import { SignedXml } from 'xml-crypto';
import { enveloped, exclusive, forger } from '#testing/forged-saml.ts';
import { makeCertificate } from '../make-certificate.ts';
import { libraryVerifiedXml } from './library-verified-xml.ts';
import { readXml } from './strict-xml.ts';

const now = new Date('2026-03-04T10:00:00Z');
const scene = { now, entityId: 'https://idp.example', acs: 'https://a.example', audience: 'b', requestId: null };

function rootOf(xml: string) {
  const reading = readXml(xml);
  if (reading.kind === 'refused') throw new Error(reading.problem);
  return reading.root;
}

it('SA-16 the library uses no certificate from the message', async () => {
  const [provider, other] = await Promise.all(['provider', 'other'].map((name) => makeCertificate(name, now)));
  if (!provider || !other) throw new Error('no keys');
  const root = rootOf(forger({ ...scene, key: other }).sign(forger({ ...scene, key: other }).assertion()));
  expect(root.toString()).toContain('<ds:X509Certificate>');
  expect(libraryVerifiedXml(root, other.certificate)).toMatchObject({ kind: 'ok' });
  expect(libraryVerifiedXml(root, provider.certificate)).toMatchObject({ kind: 'refused' });
});

it('SA-12 the library treats content changed after signing as unsigned', async () => {
  const key = await makeCertificate('provider', now);
  const f = forger({ ...scene, key });
  const changed = f.sign(f.assertion()).replace('bob-1', 'bob-2');
  expect(libraryVerifiedXml(rootOf(changed), key.certificate)).toEqual({
    kind: 'refused',
    problem: 'a digest differs',
  });
});

it('SA-12 a signature over two elements covers neither, though the library accepts it', async () => {
  const key = await makeCertificate('provider', now);
  const f = forger({ ...scene, key });
  const algorithm = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';
  const signing = new SignedXml({
    ...{ privateKey: key.privateKey, signatureAlgorithm: algorithm },
    canonicalizationAlgorithm: exclusive,
  });
  for (const id of ['_a1', '_a2'])
    signing.addReference({
      xpath: `//*[@ID='${id}']`,
      transforms: [enveloped, exclusive],
      digestAlgorithm: 'http://www.w3.org/2001/04/xmlenc#sha256',
    });
  const both = f.assertion({ end: '<saml:Advice ID="_a2"/>' });
  const xpath = "/*/*[local-name(.)='Issuer']";
  signing.computeSignature(both, { prefix: 'ds', location: { reference: xpath, action: 'after' } });
  const problem = 'it does not cover exactly one element';
  expect(libraryVerifiedXml(rootOf(signing.getSignedXml()), key.certificate)).toEqual({ kind: 'refused', problem });
});

it('SA-13 SA-14 the library supports no algorithm that we refuse', async () => {
  const key = await makeCertificate('provider', now);
  const f = forger({ ...scene, key });
  const old = 'http://www.w3.org/2000/09/xmldsig#';
  for (const options of [
    { algorithm: `${old}rsa-sha1` },
    { digest: `${old}sha1` },
    { canonicalization: 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315' },
  ]) {
    const verified = libraryVerifiedXml(rootOf(f.sign(f.assertion(), '_a1', options)), key.certificate);
    expect(verified).toMatchObject({ kind: 'refused', problem: expect.stringContaining('not supported') });
  }
});
