import { beforeAll, describe, expect, it } from 'vitest';
import { readText } from '../../config/read-text-file.ts';
import { makeCertificate } from '../portal-keys.ts';
import { readSamlMetadata } from './provider-metadata.ts';

const now = new Date('2026-03-04T10:00:00Z');
const certificate = async () => (await makeCertificate('idp', now)).certificate;
let one: string;
let two: string;
beforeAll(async () => {
  [one, two] = await Promise.all([certificate(), certificate()]);
});

const key = (pem: string, use = ' use="signing"') =>
  `<KeyDescriptor${use}><ds:KeyInfo><ds:X509Data><ds:X509Certificate>\n${pem.replace(/-----[A-Z ]+-----/g, '')}\n</ds:X509Certificate></ds:X509Data></ds:KeyInfo></KeyDescriptor>`;
const service = (binding = 'HTTP-Redirect', location = 'https://idp.example/sso', name = 'SingleSignOnService') =>
  `<${name} Binding="urn:oasis:names:tc:SAML:2.0:bindings:${binding}" Location="${location}"/>`;
function entity(inside: string, { id = 'https://idp.example/', role = 'IDPSSODescriptor', more = '' } = {}): string {
  const namespaces = 'xmlns="urn:oasis:names:tc:SAML:2.0:metadata" xmlns:ds="http://www.w3.org/2000/09/xmldsig#"';
  return `<EntityDescriptor ${namespaces} entityID="${id}"${more}><${role} protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">${inside}</${role}></EntityDescriptor>`;
}
const several = (...entities: string[]) =>
  `<EntitiesDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata">${entities.join('')}</EntitiesDescriptor>`;
const read = (text: string) => readSamlMetadata(text, now);
const plain = (pem: string) => pem.replace(/\s/g, '');
function settingsOf(text: string) {
  const reading = read(text);
  if (reading.kind === 'refused') throw new Error(reading.problem);
  const { certificates, ...settings } = reading.settings;
  return { ...settings, certificates: certificates.map(plain), warnings: reading.warnings };
}

describe('metadata are read', () => {
  it('with everything that a connection needs, by redirect rather than by post', () => {
    const posts = service('HTTP-POST', 'https://idp.example/post');
    const text = `\n<?xml version="1.0" encoding="UTF-8"?>\n<!-- made by hand -->\n${entity(key(one) + posts + service())}`;
    const settings = { entityId: 'https://idp.example/', signOnUrl: 'https://idp.example/sso', warnings: [] };
    expect(settingsOf(text)).toMatchObject({ ...settings, certificates: [plain(one)] });
    expect(settingsOf(entity(key(one) + posts))).toMatchObject({
      ...{ signOnUrl: 'https://idp.example/post', signOnBinding: 'post' },
    });
  });

  it('with the address of single logout, and that of answers', () => {
    const of = (...services: string[]) => settingsOf(entity(key(one) + services.join('') + service()));
    const url = 'https://idp.example/slo';
    const logout = (binding: string, at = url, more = '') =>
      service(binding, at, 'SingleLogoutService').replace('/>', `${more}/>`);
    expect(of(logout('SOAP')).logout).toBeUndefined();
    expect(of(logout('HTTP-POST')).logout).toMatchObject({ url, binding: 'post' });
    const answers = logout('HTTP-Redirect', url, ' ResponseLocation="https://idp.example/answers"');
    expect(of(logout('HTTP-POST', 'https://idp.example/post'), answers).logout).toEqual({
      ...{ url, responseUrl: 'https://idp.example/answers', binding: 'redirect' },
    });
    for (const wrong of [
      logout('HTTP-Redirect', 'http://idp.example/'),
      logout('HTTP-Redirect', url, ' ResponseLocation="javascript:x"'),
    ])
      expect(of(wrong)).toMatchObject({
        ...{
          logout: undefined,
          warnings: [expect.stringMatching(/single logout is ignored: its address is not https/)],
        },
      });
  });

  it('with keys without a stated use, without those for encryption, and without duplicates', () => {
    const keys = key(one, '') + key(two, ' use="encryption"') + key(one);
    expect(settingsOf(entity(keys + service())).certificates).toEqual([plain(one)]);
  });

  it('of the only provider among several parties', () => {
    const [first, second] = [one, two].map((pem, at) => entity(key(pem) + service(), { id: `urn:${at}` }));
    const portals = entity('', { role: 'SPSSODescriptor' });
    expect(settingsOf(several(portals, first as string)).certificates).toEqual([plain(one)]);
    const problem = 'the metadata are of several providers: "urn:0", "urn:1"; remove the others';
    expect(read(several(first as string, second as string))).toMatchObject({ problem });
  });
});

const bare = (pem: string) => pem.replace(/-----[A-Z ]+-----|\s/g, '');
const document = (encoding: string, name = 'Müller') =>
  `<?xml version="1.0" encoding="${encoding}"?><?xml-stylesheet href="md.xsl"?>${entity(key(one) + service(), { id: ' https://idp.example/\n' }).replace('</EntityDescriptor>', `<Organization><OrganizationName>${name}</OrganizationName></Organization></EntityDescriptor>`)}`;

it.each<[string, () => Uint8Array]>([
  ['UTF-16 of Windows', () => Buffer.from(`\uFEFF${document('UTF-16')}`, 'utf16le')],
  ['ISO-8859-1', () => Buffer.from(document('ISO-8859-1'), 'latin1')],
  ['windows-1252', () => Buffer.from(document('windows-1252'), 'latin1')],
  ['CDATA in what is not read', () => Buffer.from(document('utf-8', '<![CDATA[A & B]]>'))],
])('a file of an operator is read: %s', (_what, bytes) => {
  const text = readText(bytes());
  const { entityId, certificates } = settingsOf(text.kind === 'ok' ? text.value : text.problem);
  expect([entityId, certificates]).toEqual(['https://idp.example/', [plain(one)]]);
});

it.each<[string, () => string, warning?: RegExp]>([
  ['in PEM', () => key(`-----BEGIN CERTIFICATE-----${bare(one)}-----END CERTIFICATE-----`.replace(/-/g, '&#45;'))],
  ['behind its names', () => key(`subject=/CN=idp issuer=/CN=ca ${bare(one)}`)],
  ['around a comment', () => key(bare(one).replace('MII', 'MII<!-- x -->'))],
  ['before its chain', () => key(bare(one) + bare(two)), /^signing certificate 1: its element holds 2/],
  ['that is broken, beside a good one', () => key('TUlJ') + key(one), /1: it cannot be read \("TUlJ"\)/],
  ['that is empty, behind a good one', () => key(one) + key(''), /^signing certificate 2: it cannot be read/],
])('a certificate %s', (_what, keys, warning) => {
  const { certificates, warnings } = settingsOf(entity(keys() + service()));
  expect([certificates, warnings]).toEqual([[plain(one)], warning ? [expect.stringMatching(warning)] : []]);
});

it.each<[string, RegExp, () => string]>([
  ['a document type', /\(DOCTYPE\): remove it/, () => `<!DOCTYPE EntityDescriptor>${entity(key(one) + service())}`],
  ['a page', /cannot be read/, () => '<!DOCTYPE html><html></html>'],
  ['a service provider’s', /not the metadata of an identity provider/, () => entity('', { role: 'SPSSODescriptor' })],
  ['no name', /no entityID/, () => entity(key(one) + service(), { id: '' })],
  ['no sign-on address', /no SingleSignOnService/, () => entity(key(one))],
  ['one by SOAP alone', /for HTTP-Redirect or HTTP-POST/, () => entity(key(one) + service('SOAP'))],
  ['plain http', /not https/, () => entity(key(one) + service('HTTP-Redirect', 'http://idp.example/'))],
  ['a script', /not https/, () => entity(key(one) + service('HTTP-Redirect', 'javascript:alert(1)'))],
  ['no certificate', /no signing certificate \(X509Certificate in a KeyDescriptor\)/, () => entity(service())],
  ['a certificate that is none', /certificate 1: it cannot be read \("AAAA"\)/, () => entity(key('AAAA') + service())],
  ['SAML 1.1', /SAML 2\.0/, () => entity(key(one) + service()).replace('SAML:2.0:protocol">', 'SAML:1.1:protocol">')],
])('refused in words that say why: %s', (_name, words, make) => {
  expect(read(make())).toMatchObject({ kind: 'refused', problem: expect.stringMatching(words) });
});
