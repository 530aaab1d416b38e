import { encrypted, encryptedName, type Forger } from '../forged-saml.ts';
import { changed, evil, type ForgeryTools, inXml, signedResponse } from './forgery.ts';

type Tools = Pick<ForgeryTools, 'portalCertificate'>;
const xmlenc = 'http://www.w3.org/2001/04/xmlenc#';
const rsaSha1 = 'http://www.w3.org/2000/09/xmldsig#rsa-sha1';
const sha1 = 'http://www.w3.org/2000/09/xmldsig#sha1';
const aesGcm = 'http://www.w3.org/2009/xmlenc11#aes256-gcm';

/** An assertion, signed unless another is given, encrypted for the portal. */
const sealed = (f: Forger, { portalCertificate }: Tools, xml = f.sign(f.assertion()), how = {}) =>
  encrypted(xml, portalCertificate, how);
const answer = async (f: Forger, tools: Tools, xml?: string) => f.response(await sealed(f, tools, xml));
const inSigned = async (f: Forger, tools: Tools, how: object) =>
  signedResponse(f, await sealed(f, tools, f.sign(f.assertion()), how));
const cbc = { content: `${xmlenc}aes256-cbc` };
const withName = (f: Forger, nameId: string) => f.response(f.sign(f.assertion({ nameId })));
const sealedName = (f: Forger, { portalCertificate }: Tools, xml = f.nameId('admin-1')) =>
  encryptedName(xml, portalCertificate);
const needsSigned = /AES-CBC, which requires a signed response/;
const notSigned = /Assertion is not signed/;

/** Encrypted assertions. */
export const encryptedAnswers = inXml([
  ['SA-35 encrypted, not signed', notSigned, (f, tools) => answer(f, tools, f.assertion())],
  [
    'SA-35 the same in a signed response',
    notSigned,
    async (f, tools) => signedResponse(f, await sealed(f, tools, f.assertion())),
  ],
  [
    'SA-35 signed by the forger, encrypted',
    /not verified/,
    (f, tools) => answer(f, tools, f.sign(f.assertion(), '_a1', { key: tools.otherKey })),
  ],
  [
    'SA-35 encrypted for somebody else',
    /no portal key/,
    (f, { otherKey }) => answer(f, { portalCertificate: otherKey.certificate }),
  ],
  [
    'SA-35 its key by rsa-1_5',
    /encrypted by .*rsa-1_5/,
    (f, tools) => inSigned(f, tools, { transport: `${xmlenc}rsa-1_5` }),
  ],
  [
    'SA-35 its key by another digest',
    /with the digest .*sha256/,
    async (f, tools) => changed(await answer(f, tools), sha1, `${xmlenc}sha256`),
  ],
  [
    'SA-35 by Triple DES',
    /encrypted by .*tripledes/,
    (f, tools) => inSigned(f, tools, { content: `${xmlenc}tripledes-cbc` }),
  ],
  [
    'SA-35 by AES-CBC, in an unsigned response',
    needsSigned,
    async (f, { portalCertificate }) => f.response(await byCbc(f, portalCertificate)),
  ],
  ...[0, 7, 15].map((place): Parameters<typeof inXml>[0][number] => [
    `SA-35 by AES-CBC, byte ${place} changed after`,
    /its Response is not verified/,
    async (f, tools) => tampered(await inSigned(f, tools, cbc), place),
  ]),
  ['SA-35 by AES-GCM, a byte changed after', /no portal key/, async (f, tools) => tampered(await answer(f, tools), 40)],
  [
    'SA-35 by AES-GCM, said to be by AES-CBC',
    needsSigned,
    async (f, tools) => changed(await answer(f, tools), aesGcm, cbc.content),
  ],
  [
    'SA-35 another one beside the signed one',
    /2 assertions/,
    async (f, tools) => f.response(f.sign(f.assertion()) + (await sealed(f, tools, evil(f)))),
  ],
  [
    'SA-35 a wrapped assertion, encrypted',
    notSigned,
    (f, tools) => answer(f, tools, evil(f, '_evil', f.sign(f.assertion()))),
  ],
  [
    'SA-35 a comment inside',
    /cannot be read: it holds a comment/,
    (f, tools) => answer(f, tools, changed(f.sign(f.assertion()), 'bob-1', 'bob-1<!-- -->')),
  ],
  [
    'SA-35 signed by SHA-1',
    /rsa-sha1. is not supported/,
    (f, tools) => answer(f, tools, f.sign(f.assertion(), '_a1', { algorithm: rsaSha1 })),
  ],
  [
    'SA-35 a DOCTYPE inside',
    /cannot be read: it holds .* document type/,
    (f, tools) => answer(f, tools, `<!DOCTYPE x>${f.sign(f.assertion())}`),
  ],
  [
    'SA-35 two keys',
    /one piece of data and one key/,
    async (f, tools) => changed(await answer(f, tools), /<e:EncryptedKey.*<\/e:EncryptedKey>/s, (key) => key + key),
  ],
  [
    'SA-35 a NameID for somebody else',
    /no portal key decrypts its NameID/,
    async (f, { otherKey }) => withName(f, await sealedName(f, { portalCertificate: otherKey.certificate })),
  ],
  [
    'SA-35 a NameID that is none',
    /not a NameID/,
    async (f, tools) => withName(f, await sealedName(f, tools, '<saml:Issuer>bob-1</saml:Issuer>')),
  ],
  [
    'SA-35 a NameID put in after signing',
    /not verified/,
    async (f, tools) => f.response(changed(f.sign(f.assertion()), f.nameId('bob-1'), await sealedName(f, tools))),
  ],
  [
    'SA-35 a NameID beside a plain one',
    /one NameID/,
    async (f, tools) => withName(f, f.nameId('bob-1') + (await sealedName(f, tools))),
  ],
]);

/** An assertion signed and then encrypted with AES-CBC. */
export async function byCbc(f: Forger, certificate: string): Promise<string> {
  return await encrypted(f.sign(f.assertion()), certificate, cbc);
}

/** Changes one byte of the ciphertext. */
function tampered(xml: string, place: number): string {
  const at = xml.lastIndexOf('<e:CipherValue>') + '<e:CipherValue>'.length;
  const end = xml.indexOf('<', at);
  const data = Buffer.from(xml.slice(at, end), 'base64');
  data[place] = (data[place] ?? 0) ^ 1;
  return xml.slice(0, at) + data.toString('base64') + xml.slice(end);
}
