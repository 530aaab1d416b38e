import { encrypted, encryptedName, type Forger, field } from '../forged-saml.ts';
import { answer, changed, evil, type Forgery, type ForgeryTools, forged, signedResponse } from './forgery.ts';

/** Encrypted assertions. */
export const encryptedAnswers: Forgery[] = [
  forged('SA-35 encrypted, not signed', /Assertion is not signed/, async (f, { portalCertificate }) =>
    field(f.response(await encrypted(f.assertion(), portalCertificate))),
  ),
  forged(
    'SA-35 encrypted, not signed, in a signed response',
    /Assertion is not signed/,
    async (f, { portalCertificate }) => field(signedResponse(f, await encrypted(f.assertion(), portalCertificate))),
  ),
  forged("SA-35 encrypted, signed by the forger's key", /not verified/, async (f, { portalCertificate, otherKey }) =>
    field(f.response(await encrypted(f.sign(f.assertion(), '_a1', { key: otherKey }), portalCertificate))),
  ),
  forged('SA-35 encrypted for somebody else', /no portal key/, async (f, { otherKey }) =>
    field(f.response(await encrypted(f.sign(f.assertion()), otherKey.certificate))),
  ),
  forged('SA-35 its key is sealed by rsa-1_5', /encrypted by .*rsa-1_5/, async (f, { portalCertificate }) =>
    field(
      signedResponse(
        f,
        await encrypted(f.sign(f.assertion()), portalCertificate, {
          transport: 'http://www.w3.org/2001/04/xmlenc#rsa-1_5',
        }),
      ),
    ),
  ),
  forged(
    'SA-35 its key is sealed with a digest that the library would take for another',
    /with the digest .*sha256/,
    async (f, { portalCertificate }) => {
      const xml = f.response(await encrypted(f.sign(f.assertion()), portalCertificate));
      return field(changed(xml, 'http://www.w3.org/2000/09/xmldsig#sha1', 'http://www.w3.org/2001/04/xmlenc#sha256'));
    },
  ),
  forged('SA-35 encrypted by Triple DES', /encrypted by .*tripledes/, async (f, { portalCertificate }) =>
    field(
      signedResponse(
        f,
        await encrypted(f.sign(f.assertion()), portalCertificate, {
          content: 'http://www.w3.org/2001/04/xmlenc#tripledes-cbc',
        }),
      ),
    ),
  ),
  forged(
    'SA-35 encrypted by AES-CBC in a response that is not signed',
    /AES-CBC, which requires a signed response/,
    async (f, { portalCertificate }) => field(f.response(await byCbc(f, portalCertificate))),
  ),
  ...[0, 7, 15].map((place) =>
    forged(
      `SA-35 encrypted by AES-CBC in a signed response, byte ${place} changed after`,
      /signature of its Response is not verified/,
      async (f: Forger, { portalCertificate }: ForgeryTools) =>
        field(tampered(signedResponse(f, await byCbc(f, portalCertificate)), place)),
    ),
  ),
  forged('SA-35 encrypted by AES-GCM, a byte changed after', /no portal key/, async (f, { portalCertificate }) =>
    field(tampered(f.response(await encrypted(f.sign(f.assertion()), portalCertificate)), 40)),
  ),
  forged(
    'SA-35 encrypted by AES-GCM, said to be by AES-CBC',
    /AES-CBC, which requires a signed response/,
    async (f, { portalCertificate }) =>
      field(
        changed(
          f.response(await encrypted(f.sign(f.assertion()), portalCertificate)),
          'http://www.w3.org/2009/xmlenc11#aes256-gcm',
          'http://www.w3.org/2001/04/xmlenc#aes256-cbc',
        ),
      ),
  ),
  forged('SA-35 another one encrypted beside the signed one', /2 assertions/, async (f, { portalCertificate }) =>
    field(f.response(f.sign(f.assertion()) + (await encrypted(evil(f), portalCertificate)))),
  ),
  forged('SA-35 a wrapped assertion, encrypted', /Assertion is not signed/, async (f, { portalCertificate }) => {
    const inside = evil(f, '_evil', f.sign(f.assertion()));
    return field(f.response(await encrypted(inside, portalCertificate)));
  }),
  forged(
    'SA-35 a comment in what was encrypted',
    /encrypted cannot be read: it holds a comment/,
    async (f, { portalCertificate }) => {
      const signed = f.sign(f.assertion({ nameId: f.nameId('admin-1.evil') }));
      return field(f.response(await encrypted(changed(signed, 'admin-1', 'admin-1<!-- -->'), portalCertificate)));
    },
  ),
  forged('SA-35 signed by SHA-1, then encrypted', /rsa-sha1. is not supported/, async (f, { portalCertificate }) => {
    const algorithm = 'http://www.w3.org/2000/09/xmldsig#rsa-sha1';
    return field(f.response(await encrypted(f.sign(f.assertion(), '_a1', { algorithm }), portalCertificate)));
  }),
  forged(
    'SA-35 a DOCTYPE in what was encrypted',
    /encrypted cannot be read: it holds .* document type/,
    async (f, { portalCertificate }) =>
      field(f.response(await encrypted(`<!DOCTYPE x>${f.sign(f.assertion())}`, portalCertificate))),
  ),
  forged('SA-35 two keys', /one piece of data and one key/, async (f, { portalCertificate }) => {
    const xml = f.response(await encrypted(f.sign(f.assertion()), portalCertificate));
    const [key = ''] = /<e:EncryptedKey.*<\/e:EncryptedKey>/s.exec(xml) ?? [];
    return field(changed(xml, key, key + key));
  }),
  forged('SA-35 a NameID encrypted for somebody else', /no portal key decrypts its NameID/, async (f, { otherKey }) =>
    answer(f, { nameId: await encryptedName(f.nameId('bob-1'), otherKey.certificate) }),
  ),
  forged('SA-35 an encrypted NameID that is none', /not a NameID/, async (f, { portalCertificate }) =>
    answer(f, { nameId: await encryptedName('<saml:Issuer>bob-1</saml:Issuer>', portalCertificate) }),
  ),
  forged('SA-35 an encrypted NameID put in after signing', /not verified/, async (f, { portalCertificate }) =>
    field(
      f.response(
        changed(f.sign(f.assertion()), f.nameId('bob-1'), await encryptedName(f.nameId('admin-1'), portalCertificate)),
      ),
    ),
  ),
  forged('SA-35 an encrypted NameID beside a plain one', /one NameID/, async (f, { portalCertificate }) =>
    answer(f, { nameId: f.nameId('bob-1') + (await encryptedName(f.nameId('admin-1'), portalCertificate)) }),
  ),
];

/** An assertion signed and then encrypted with AES-CBC. */
export async function byCbc(f: Forger, certificate: string): Promise<string> {
  return await encrypted(f.sign(f.assertion()), certificate, {
    content: 'http://www.w3.org/2001/04/xmlenc#aes256-cbc',
  });
}

/** Changes one byte of the ciphertext. */
function tampered(xml: string, place: number): string {
  const at = xml.lastIndexOf('<e:CipherValue>') + '<e:CipherValue>'.length;
  const end = xml.indexOf('<', at);
  const data = Buffer.from(xml.slice(at, end), 'base64');
  data[place] = (data[place] ?? 0) ^ 1;
  return xml.slice(0, at) + data.toString('base64') + xml.slice(end);
}
