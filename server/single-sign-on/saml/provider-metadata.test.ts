import { generateKeyPairSync } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeCertificate } from '../portal-keys.ts';
import { readSamlMetadata } from './provider-metadata.ts';

const now = new Date('2026-03-04T10:00:00Z');
const day = 24 * 3_600_000;

let certificate: string;
let another: string;
beforeAll(async () => {
  [{ certificate }, { certificate: another }] = await Promise.all([
    makeCertificate('one', now),
    makeCertificate('two', now),
  ]);
});

const key = (pem: string, use = ' use="signing"') =>
  `<KeyDescriptor${use}><ds:KeyInfo><ds:X509Data><ds:X509Certificate>\n${pem.replace(/-----[A-Z ]+-----/g, '')}\n</ds:X509Certificate></ds:X509Data></ds:KeyInfo></KeyDescriptor>`;
const service = (binding = 'HTTP-Redirect', location = 'https://idp.example/sso') =>
  `<SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:${binding}" Location="${location}"/>`;

function entity(inside: string, { id = 'https://idp.example/', role = 'IDPSSODescriptor', more = '' } = {}): string {
  const namespaces = 'xmlns="urn:oasis:names:tc:SAML:2.0:metadata" xmlns:ds="http://www.w3.org/2000/09/xmldsig#"';
  return `<EntityDescriptor ${namespaces} entityID="${id}"${more}><${role} protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">${inside}</${role}></EntityDescriptor>`;
}
const several = (...entities: string[]) =>
  `<EntitiesDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata">${entities.join('')}</EntitiesDescriptor>`;
const read = (text: string, entityId?: string) => readSamlMetadata(text, { now, ...(entityId && { entityId }) });

describe('metadata are read', () => {
  it('with everything that a connection needs', () => {
    const text = `\uFEFF<?xml version="1.0" encoding="UTF-8"?>\n<!-- made by hand -->\n${entity(key(certificate) + service('HTTP-POST', 'https://idp.example/post') + service())}`;
    const reading = read(text);
    expect(certificatesOf(reading)).toEqual([plain(certificate)]);
    const settings = { entityId: 'https://idp.example/', signOnUrl: 'https://idp.example/sso' };
    expect(reading).toMatchObject({ settings, warnings: [] });
  });

  it('with the address for posts if there is none for redirects', () => {
    const by = (...services: string[]) => {
      const reading = read(entity(key(certificate) + services.join('')));
      return reading.kind === 'ok' && [reading.settings.signOnUrl, reading.settings.signOnBinding];
    };
    expect(by(service('HTTP-POST', 'https://idp.example/post'))).toEqual(['https://idp.example/post', 'post']);
    expect(by(service('HTTP-POST', 'https://idp.example/post'), service())).toEqual([
      'https://idp.example/sso',
      undefined,
    ]);
  });

  it('with the address of single logout, by redirect rather than by post, and that of answers', () => {
    const by = (...services: string[]) => {
      const reading = read(entity(key(certificate) + services.join('') + service()));
      return reading.kind === 'ok' && [reading.settings.logout, ...reading.warnings];
    };
    const logout = (binding: string, url: string, more = '') =>
      service(binding, url).replace('SingleSignOnService', 'SingleLogoutService').replace('/>', `${more}/>`);
    const url = 'https://idp.example/slo';
    const posts = logout('HTTP-POST', 'https://idp.example/slo-post');
    expect(by()).toEqual([undefined]);
    expect(by(logout('SOAP', url))).toEqual([undefined]);
    expect(by(posts)).toMatchObject([{ url: 'https://idp.example/slo-post', binding: 'post' }]);
    expect(by(posts, logout('HTTP-Redirect', url))).toEqual([{ url, responseUrl: url, binding: 'redirect' }]);
    const answers = ' ResponseLocation="https://idp.example/slo-answers"';
    expect(by(logout('HTTP-Redirect', url, answers))).toMatchObject([
      { responseUrl: 'https://idp.example/slo-answers' },
    ]);
    for (const wrong of [
      logout('HTTP-Redirect', 'http://idp.example/'),
      logout('HTTP-Redirect', url, ' ResponseLocation="javascript:x"'),
    ])
      expect(by(wrong)).toEqual([
        undefined,
        expect.stringMatching(/single logout is ignored: its address is not https/),
      ]);
  });

  it('with keys without a stated use, without those for encryption, and without duplicates', () => {
    const keys = key(certificate, '') + key(another, ' use="encryption"') + key(certificate);
    expect(certificatesOf(read(entity(keys + service())))).toEqual([plain(certificate)]);
  });

  it('of the named one of several, or of the only provider', () => {
    const one = entity(key(certificate) + service(), { id: 'urn:one' });
    const two = entity(key(another) + service(), { id: 'urn:two' });
    const portal = entity('', { id: 'urn:sp', role: 'SPSSODescriptor' });
    expect(certificatesOf(read(several(one, two), 'urn:two'))).toEqual([plain(another)]);
    expect(certificatesOf(read(several(portal, one)))).toEqual([plain(certificate)]);
    expect(read(several(one, two))).toMatchObject({
      problem: 'the metadata are of several providers, name one of them: "urn:one", "urn:two"',
    });
    expect(read(several(one, two), 'urn:three')).toMatchObject({
      problem: expect.stringMatching(/not of "urn:three"/),
    });
  });

  it('with a warning of what expires', async () => {
    const { certificate: old } = await makeCertificate('old', new Date(now.getTime() - 3 * 365 * day - day));
    const { certificate: soon } = await makeCertificate('soon', new Date(now.getTime() - 3 * 365 * day + 59 * day));
    const { certificate: later } = await makeCertificate('later', new Date(now.getTime() - 3 * 365 * day + 61 * day));
    const all = entity(key(old) + key(soon) + key(later) + service(), { more: ' validUntil="2026-03-01T00:00:00Z"' });
    expect(read(all)).toMatchObject({
      warnings: [
        'a signing certificate: it ended on 2026-03-03',
        'a signing certificate: it is valid until 2026-05-02',
        'the metadata have expired (validUntil)',
      ],
    });
  });
});

const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const bareKey = publicKey.export({ type: 'spki', format: 'pem' }).toString();
const refused: [string, RegExp, () => string][] = [
  ['a page', /cannot be read/, () => '<!DOCTYPE html><html></html>'],
  ['JSON', /cannot be read/, () => '{}'],
  ['something else in XML', /no EntityDescriptor/, () => '<x/>'],
  ['a service provider’s', /not the metadata of an identity provider/, () => entity('', { role: 'SPSSODescriptor' })],
  ['no name', /no entityID/, () => entity(key(certificate) + service(), { id: '' })],
  ['no sign-on address', /no SingleSignOnService/, () => entity(key(certificate))],
  ['one by SOAP alone', /for HTTP-Redirect or HTTP-POST/, () => entity(key(certificate) + service('SOAP'))],
  ...['http://idp.example/', 'javascript:alert(1)'].map((address): [string, RegExp, () => string] => [
    address,
    /not https/,
    () => entity(key(certificate) + service('HTTP-Redirect', address)),
  ]),
  ['no certificate', /no signing certificate \(X509Certificate in a KeyDescriptor\)/, () => entity(service())],
  ['encryption alone', /no signing certificate/, () => entity(key(certificate, ' use="encryption"') + service())],
  ['a certificate that is none', /cannot be read/, () => entity(key('AAAA') + service())],
  ['a bare key', /cannot be read/, () => entity(key(bareKey) + service())],
  [
    'SAML 1.1',
    /SAML 2\.0/,
    () => entity(key(certificate) + service()).replace('SAML:2.0:protocol">', 'SAML:1.1:protocol">'),
  ],
  ['too much', /too long/, () => entity(key(certificate) + service()) + ' '.repeat(512 * 1024)],
];
it.each(refused)('refused in words that say why: %s', (_name, words, make) => {
  expect(read(make())).toMatchObject({ kind: 'refused', problem: expect.stringMatching(words) });
});

function certificatesOf(reading: ReturnType<typeof read>): string[] {
  if (reading.kind === 'refused') throw new Error(reading.problem);
  return reading.settings.certificates.map(plain);
}

function plain(pem: string): string {
  return pem.replace(/\s/g, '');
}
