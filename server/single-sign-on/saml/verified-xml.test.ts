import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { getVerifiedXml } from '@node-saml/node-saml/lib/xml.js';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Forger, type ForgerKey, forger } from '#testing/forged-saml.ts';
import { ecCertificate } from '#testing/xml-signature-algorithms.ts';
import { makeCertificate } from '../make-certificate.ts';
import { readXml } from './strict-xml.ts';
import { verifiedXml } from './verified-xml.ts';
import { elementsIn, type XmlElement } from './xml-elements.ts';

const now = new Date('2026-03-04T10:00:00Z');
let provider: ForgerKey;
let other: ForgerKey;
let f: Forger;
beforeAll(async () => {
  [provider, other] = await Promise.all([makeCertificate('provider', now), makeCertificate('other', now)]);
  const acs = 'https://portal.example/acs';
  f = forger({
    key: provider,
    now,
    entityId: 'https://idp.example',
    acs,
    audience: 'https://portal.example',
    requestId: null,
  });
});

function element(xml: string, id: string): XmlElement {
  const reading = readXml(xml);
  if (reading.kind === 'refused') throw new Error(reading.problem);
  const found = elementsIn(reading.root).find((each) => each.getAttribute('ID') === id);
  if (!found) throw new Error(`no ${id}`);
  return found;
}

const typed = `<saml:AttributeStatement><saml:Attribute Name="groups">${Array.from(
  { length: 200 },
  (_, at) =>
    `<saml:AttributeValue xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="xs:string">Group ${at} &amp; &lt;co&gt; "é"\r\n</saml:AttributeValue>`,
).join('')}</saml:AttributeStatement>`;
const foreign = '<x xmlns="urn:x"><y xmlns="" b="2" a="1"><z xmlns:q="urn:q" q:c="&#9;&quot;"/></y></x>';

describe('what is verified is what the library would say', () => {
  it.each([
    ['an assertion', '_a1', () => f.response(f.sign(f.assertion()))],
    ['a response around it', '_r1', () => f.sign(f.response(f.sign(f.assertion())), '_r1')],
    ['an assertion in a signed response', '_a1', () => f.sign(f.response(f.sign(f.assertion())), '_r1')],
    [
      'an assertion of somebody in 200 groups, each value with a type',
      '_a1',
      () => f.response(f.sign(f.assertion({ attributes: typed }))),
    ],
    ['elements of many namespaces', '_a1', () => f.response(f.sign(f.assertion({ end: foreign })))],
    [
      'lines and spaces between everything',
      '_a1',
      () => f.response(f.sign(f.assertion().replaceAll('><', '>\r\n  <'))),
    ],
  ])('%s', (_name, id, make) => {
    const xml = make();
    const signed = element(xml, id);
    const before = signed.toString();
    const verified = verifiedXml(signed, [other.certificate, provider.certificate]);
    expect(verified).toBe(getVerifiedXml(xml, element(xml, id), [provider.certificate]));
    expect(verified).toContain('<saml:Issuer>');
    expect(signed.toString()).toBe(before);
    expect(verifiedXml(signed, [other.certificate])).toBeNull();
  });

  it('A prefix that counts although no name uses it, declared around the signed part.', () => {
    const value = '<saml:AttributeValue xmlns:xsi="urn:xsi" xsi:type="xs:string">b</saml:AttributeValue>';
    const attributes = `<saml:AttributeStatement><saml:Attribute Name="a">${value}</saml:Attribute></saml:AttributeStatement>`;
    const around = f
      .response(f.assertion({ attributes }))
      .replace('<samlp:Response ', '<samlp:Response xmlns:xs="urn:xs" ');
    const xml = withPrefixes(f.sign(around), 'xs saml');
    const verified = verifiedXml(element(xml, '_a1'), [provider.certificate]);
    expect(verified).toContain(
      '<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" xmlns:xs="urn:xs" ID',
    );
    expect(verified).toBe(getVerifiedXml(xml, element(xml, '_a1'), [provider.certificate]));
    const twice = (around: string, inside: string) =>
      xml
        .replace('xmlns:xs="urn:xs"', around)
        .replace('<saml:Assertion', `<saml:Assertion ${inside}`)
        .replace(/^.*$/s, '<all xmlns:xs="urn:far">$&</all>');
    for (const nearest of [twice('xmlns:xs="urn:xs"', ''), twice('xmlns:xs="urn:between"', 'xmlns:xs="urn:xs"')])
      expect(verifiedXml(element(nearest, '_a1'), [provider.certificate])).toBe(verified);
    const moved = xml.replace('xmlns:xs="urn:xs"', 'xmlns:xs="urn:evil"');
    expect(verifiedXml(element(moved, '_a1'), [provider.certificate])).toBeNull();
  });
});

/** Signs again with a list of prefixes, as Shibboleth does; the test library cannot. */
function withPrefixes(xml: string, list: string): string {
  const plain = verifiedXml(element(xml, '_a1'), [provider.certificate]) ?? '';
  const covered = plain.replace('SAML:2.0:assertion"', 'SAML:2.0:assertion" xmlns:xs="urn:xs"');
  const exclusive = 'http://www.w3.org/2001/10/xml-exc-c14n#';
  const transform = `<ds:Transform Algorithm="${exclusive}"/>`;
  const listed = `<ds:Transform Algorithm="${exclusive}"><ec:InclusiveNamespaces xmlns:ec="${exclusive}" PrefixList="${list}"/></ds:Transform>`;
  const digest = createHash('sha256').update(covered).digest('base64');
  const changed = xml.replace(transform, listed).replace(/(<ds:DigestValue>)[^<]*/, `$1${digest}`);
  const [info = ''] = /<ds:SignedInfo>.*<\/ds:SignedInfo>/s.exec(changed) ?? [];
  const canonical = info
    .replace('<ds:SignedInfo>', '<ds:SignedInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#">')
    .replace(/<([\w:]+)( [^>]*)\/>/g, '<$1$2></$1>');
  const signature = sign('sha256', Buffer.from(canonical), provider.privateKey).toString('base64');
  return changed.replace(/(<ds:SignatureValue>)[^<]*/, `$1${signature}`);
}

describe('signatures of today', () => {
  const hashes = ['sha256', 'sha384', 'sha512'];
  const more = 'http://www.w3.org/2001/04/xmldsig-more#';
  const digests = [
    'http://www.w3.org/2001/04/xmlenc#sha256',
    `${more}sha384`,
    'http://www.w3.org/2001/04/xmlenc#sha512',
  ];
  const rsa = hashes.flatMap((hash) => [
    `${more}rsa-${hash}`,
    `http://www.w3.org/2007/05/xmldsig-more#${hash}-rsa-MGF1`,
  ]);

  it.each(rsa)('%s', (algorithm) => {
    for (const digest of digests) {
      const signed = element(f.sign(f.assertion(), '_a1', { algorithm, digest }), '_a1');
      expect(verifiedXml(signed, [provider.certificate]), digest).toContain('bob-1');
      expect(verifiedXml(signed, [other.certificate]), digest).toBeNull();
    }
  });

  it.each(hashes.map((hash) => `${more}ecdsa-${hash}`))('%s, by NIST curves', async (algorithm) => {
    for (const curve of ['P-256', 'P-384', 'P-521']) {
      const key = await ecCertificate(curve, now);
      const signed = element(f.sign(f.assertion(), '_a1', { algorithm, key }), '_a1');
      expect(verifiedXml(signed, [key.certificate]), curve).toContain('bob-1');
      expect(verifiedXml(signed, [provider.certificate]), curve).toBeNull();
    }
  });

  it('SA-16 none by a key of another kind than the algorithm’s', () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const signed = f.sign(f.assertion(), '_a1', {
      algorithm: `${more}ecdsa-sha256`,
      key: { ...provider, privateKey: pem },
    });
    expect(verifiedXml(element(signed, '_a1'), [provider.certificate])).toBeNull();
  });
});

it('SA-13 SignedInfo names this element, whoever checked its shape before', () => {
  const signed = f.sign(f.assertion(), '_a1', { emptyUri: true });
  expect(signed).toContain('URI=""');
  expect(verifiedXml(element(signed, '_a1'), [provider.certificate])).toBeNull();
});

it('SA-43 the signature over SignedInfo is verified first: otherwise nothing is canonicalized, whatever its size', () => {
  const looksAt = (key: ForgerKey) => {
    const names = new Set<PropertyKey>();
    const watched = new Proxy(element(f.response(f.sign(f.assertion({ attributes: typed }), '_a1', { key })), '_a1'), {
      get(target, name) {
        names.add(name);
        return Reflect.get(target, name, target);
      },
    });
    return { verified: verifiedXml(watched, [provider.certificate]), walked: names.has('tagName') };
  };
  expect(looksAt(other)).toEqual({ verified: null, walked: false });
  expect(looksAt(provider)).toEqual({ verified: expect.stringContaining('bob-1'), walked: true });
});
