import { createHash, sign } from 'node:crypto';
import { beforeAll, expect, it } from 'vitest';
import { exclusive, type Forger, type ForgerKey, forger, sha256 } from '#test/forgeries/forged-saml.ts';
import { ecCertificate } from '#test/forgeries/xml-signature-algorithms.ts';
import { makeCertificate } from '../portal-keys.ts';
import { verify } from './verify.ts';
import { elementsIn, readXml } from './xml.ts';

const now = new Date('2026-03-04T10:00:00Z');
let provider: ForgerKey;
let other: ForgerKey;
let f: Forger;
beforeAll(async () => {
  [provider, other] = await Promise.all([makeCertificate('provider', now), makeCertificate('other', now)]);
  const acs = 'https://portal.example/acs';
  const audience = 'https://portal.example';
  f = forger({ key: provider, now, entityId: 'https://idp.example', acs, audience, requestId: null });
});

/** The bytes of an element that are verified, or the problem. */
function verified(xml: string, certificates: string[], id = '_a1'): string {
  const reading = readXml(xml);
  if (reading.kind === 'refused') throw new Error(reading.problem);
  const found = elementsIn(reading.root).find((each) => each.getAttribute('ID') === id);
  if (!found) throw new Error(`no ${id}`);
  const answer = verify(xml, found, certificates);
  return answer.kind === 'ok' ? answer.text : answer.problem;
}

const foreign = '<x xmlns="urn:x"><y xmlns="" b="2" a="1"><z xmlns:q="urn:q" q:c="&#9;&quot;"/></y></x>';

it.each([
  ['an assertion', '_a1', () => f.response(f.sign(f.assertion()))],
  ['a response around it', '_r1', () => f.sign(f.response(f.sign(f.assertion())), '_r1')],
  ['elements of many namespaces', '_a1', () => f.response(f.sign(f.assertion({ end: foreign })))],
  ['lines between everything', '_a1', () => f.response(f.sign(f.assertion().replaceAll('><', '>\r\n  <')))],
])('an element is read from the bytes that were signed: %s', (_name, id, make) => {
  const text = verified(make(), [other.certificate, provider.certificate], id);
  expect(text).toMatch(/^<saml(p:Response|:Assertion) .*<saml:Issuer>.*bob-1/s);
  expect(readXml(text)).toMatchObject({ kind: 'ok' });
});

it('a prefix counts although no name uses it, declared around the signed part', () => {
  const value = '<saml:AttributeValue xmlns:xsi="urn:xsi" xsi:type="xs:string">b</saml:AttributeValue>';
  const attributes = `<saml:AttributeStatement><saml:Attribute Name="a">${value}</saml:Attribute></saml:AttributeStatement>`;
  const around = f
    .response(f.assertion({ attributes }))
    .replace('<samlp:Response ', '<samlp:Response xmlns:xs="urn:xs" ');
  const xml = withPrefixes(f.sign(around), 'xs saml');
  expect(verified(xml, [provider.certificate])).toContain(
    '<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" xmlns:xs="urn:xs" ID',
  );
  const moved = xml.replace('xmlns:xs="urn:xs"', 'xmlns:xs="urn:evil"');
  expect(verified(moved, [provider.certificate])).toContain('a digest differs');
});

/** Signs again with a list of prefixes, as Shibboleth does; the test library cannot. */
function withPrefixes(xml: string, list: string): string {
  const plain = verified(xml, [provider.certificate]);
  const covered = plain.replace('SAML:2.0:assertion"', 'SAML:2.0:assertion" xmlns:xs="urn:xs"');
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

const more = 'http://www.w3.org/2001/04/xmldsig-more#';
it.each(['sha256', 'sha384', 'sha512'])(
  'SA-16 RSA in both ways and ECDSA with %s count, by a key of that kind',
  async (hash) => {
    const curve = { sha256: 'P-256', sha384: 'P-384', sha512: 'P-521' }[hash] ?? '';
    const ec = await ecCertificate(curve, now);
    for (const [algorithm, key, not] of [
      [`${more}rsa-${hash}`, provider, other],
      [`http://www.w3.org/2007/05/xmldsig-more#${hash}-rsa-MGF1`, provider, ec],
      [`${more}ecdsa-${hash}`, ec, provider],
    ] as const)
      for (const digest of [sha256, `${more}sha384`, 'http://www.w3.org/2001/04/xmlenc#sha512']) {
        const signed = f.sign(f.assertion(), '_a1', { algorithm, digest, key });
        // No certificate is taken from the message.
        expect(signed).toContain('<ds:X509Certificate>');
        expect(verified(signed, [key.certificate])).toContain('bob-1');
        expect(verified(signed, [not.certificate])).toContain('is not verified');
      }
  },
);
