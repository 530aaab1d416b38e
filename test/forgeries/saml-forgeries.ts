import {
  audience,
  encrypted,
  enveloped,
  exclusive,
  type Forger,
  type ForgerKey,
  field,
  partSignature,
  rsaSha256,
} from './forged-saml.ts';

/** Additional inputs: the portal's certificate, and keys that are not the provider's. */
type Tools = { portalCertificate: string; otherKey: ForgerKey; endedKey: ForgerKey };
type Parts = NonNullable<Parameters<Forger['assertion']>[0]>;
type ResponseParts = Parameters<Forger['response']>[1];

/** A forged answer: its name, what the operator reads of it, and the field as posted. */
export type Forgery = [name: string, words: RegExp, make: (f: Forger, tools: Tools) => string | Promise<string>];

const signed = (f: Forger, parts: Parts = {}) => f.sign(f.assertion(parts));
const genuine = (f: Forger) => f.response(signed(f));
/** An unsigned assertion for the forger's target. */
const evil = (f: Forger, id = '_evil', end = '') => f.assertion({ id, nameId: f.nameId('admin-1'), end });
const signedResponse = (f: Forger, inside: string) => f.sign(f.response(inside), '_r1');
/** A text with a part replaced, which must be present. */
function changed(xml: string, from: string | RegExp, to: string | ((found: string) => string)): string {
  const result = xml.replace(from, to as string);
  if (result === xml) throw new Error(`There is no ${from} in ${xml}`);
  return result;
}
const afterIssuer = (xml: string, more: string) => changed(xml, '</saml:Issuer>', () => `</saml:Issuer>${more}`);
const inside = (signature: string, more: string) =>
  signature.replace('</ds:Signature>', () => `${more}</ds:Signature>`);
const extensions = (inside: string) => ({ extensions: `<samlp:Extensions>${inside}</samlp:Extensions>` });
/** Another response around what is made of a signed one. */
const aroundResponse = (f: Forger, make: (signature: string, rest: string) => string) => {
  const { signature, rest } = partSignature(signedResponse(f, f.assertion()));
  return afterIssuer(f.response(evil(f), { id: '_r2' }), make(signature, rest));
};
/** Another assertion that carries the signature, in which is what is made of the signed one. */
const carrying = (f: Forger, make: (rest: string) => string, behind = false) => {
  const { signature, rest } = partSignature(signed(f));
  return f.response(afterIssuer(evil(f), inside(signature, make(rest))) + (behind ? rest : ''));
};
const otherResponse = /is over "#_r1", not over "#_r2"/;
const two = /2 assertions/;

/** Valid signatures, around something else than what is read. */
const wrapped: Forgery[] = [
  ['SA-04 XSW1: in the signature of the response around it', otherResponse, (f) => aroundResponse(f, inside)],
  ['SA-05 XSW2: before its signature in another response', otherResponse, (f) => aroundResponse(f, (s, r) => r + s)],
  ['SA-06 XSW3: another before the signed one', two, (f) => f.response(evil(f) + signed(f))],
  ['SA-07 XSW4: inside another', two, (f) => f.response(evil(f, '_evil', signed(f)))],
  ['SA-08 XSW5: another carries its signature, it is at the end', two, (f) => carrying(f, () => '', true)],
  ['SA-08 XSW6: inside its signature in another', two, (f) => carrying(f, (rest) => rest)],
  ['SA-10 XSW7: another with its ID in Extensions', two, (f) => f.response(signed(f), extensions(evil(f, '_a1')))],
  ['SA-11 XSW8: in an Object of another', two, (f) => carrying(f, (rest) => `<ds:Object>${rest}</ds:Object>`)],
  ['SA-11 an Object in its signature', /do not belong/, (f) => inside(genuine(f), '<ds:Object>more</ds:Object>')],
];

const sha1 = 'http://www.w3.org/2000/09/xmldsig#sha1';
const rsaSha1 = 'http://www.w3.org/2000/09/xmldsig#rsa-sha1';
const inclusive = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315';
/** A response with an assertion that is signed in this way. */
const by = (f: Forger, options: Parameters<Forger['sign']>[2]) => f.response(f.sign(f.assertion(), '_a1', options));
/** A genuine answer with a part of it replaced. */
const put = (from: string | RegExp, to: Parameters<typeof changed>[2]) => (f: Forger) => changed(genuine(f), from, to);
const twice = (found: string) => found + found;
const notSigned = /Assertion is not signed/;
const badShape = /parts that do not belong/;
const notVerified = /not verified/;

/** Signatures that are missing, foreign, or of a forbidden kind. */
const weaklySigned: Forgery[] = [
  ['SA-01 nothing is signed', notSigned, (f) => f.response(f.assertion())],
  ['SA-02 the response is signed, the assertion is not', notSigned, (f) => signedResponse(f, f.assertion())],
  [
    'SA-02 the signature around a true one is not true',
    notVerified,
    (f) => changed(signedResponse(f, signed(f)), ' IssueInstant', ' Consent="urn:x" IssueInstant'),
  ],
  [
    'SA-12 two elements with one ID',
    /multiple elements with the same value/,
    (f) => f.response(signed(f), extensions('<x xmlns="urn:x" Id="_a1"/>')),
  ],
  ['SA-12 two signatures', /two signatures/, put(/<ds:Signature .*<\/ds:Signature>/s, twice)],
  ['SA-12 two SignedInfo', badShape, put(/<ds:SignedInfo>.*<\/ds:SignedInfo>/s, twice)],
  ['SA-13 no transforms', badShape, put(/<ds:Transforms>.*<\/ds:Transforms>/s, '<ds:Transforms/>')],
  ['SA-13 a transform by XSLT', /not supp/, put(enveloped, 'http://www.w3.org/TR/1999/REC-xslt-19991116')],
  ['SA-13 canonicalized with what is around', /20010315. is not/, (f) => by(f, { transforms: [enveloped, inclusive] })],
  ['SA-13 it is over the whole document', /is over ""/, (f) => by(f, { emptyUri: true })],
  ['SA-14 HMAC, with the certificate for a key', /not supp/, put(rsaSha256, sha1.replace(/sha1$/, 'hmac-sha1'))],
  ['SA-15 a signature by SHA-1', /rsa-sha1. is not supported/, (f) => by(f, { algorithm: rsaSha1 })],
  ['SA-15 a digest by SHA-1', /hash algorithm .*sha1. is not supported/, (f) => by(f, { digest: sha1 })],
  ['SA-16 by the forger’s key, whose certificate is in KeyInfo', notVerified, (f, t) => by(f, { key: t.otherKey })],
  ['SA-16 by a key whose certificate has ended', notVerified, (f, { endedKey }) => by(f, { key: endedKey })],
  ['SA-16 the NameID is changed after signing', notVerified, put('bob-1', 'bob-2')],
];

/** Names that the provider really signs and another parser would cut, and what is put in after signing. */
const names: [string, RegExp, string][] = [
  ['a comment', /comment/, 'admin-1<!-- -->.evil'],
  ['a processing instruction', /processing instruction/, 'admin-1<?x y?>.evil'],
  ['CDATA', /CDATA/, '<![CDATA[admin-1]]>.evil'],
  ['an element', /NameID nothing cannot/, 'admin-1<x/>.evil'],
  ['a no-break space at its end', /cannot be used/, 'bob-1\u00a0'],
  ['a line break', /cannot be used/, 'bob\n-1'],
  ['256 characters', /cannot be used/, 'a'.repeat(256)],
];
const of = (f: Forger, parts: Parts) => f.response(signed(f, parts));
const utf16 = (f: Forger) => Buffer.from(`\uFEFF${genuine(f)}`, 'utf16le');
const latin1 = (f: Forger) => Buffer.from(genuine(f).replace('bob-1', 'b\u00e4b'), 'latin1');

/** Names, bytes and messages that one parser would read and another would read otherwise. */
const misread: Forgery[] = [
  ...names.map(([name, words, text]): Forgery => {
    return [`SA-17 ${name} in the NameID`, words, (f) => of(f, { nameId: f.nameId(text) })];
  }),
  ['SA-17 a comment in the NameID, put in after signing', /comment/, put('bob-1', '$&<!-- -->')],
  ['SA-17 two NameIDs', /one NameID/, (f) => of(f, { nameId: f.nameId('bob-1') + f.nameId('admin-1') })],
  ['SA-17 no NameID', /one NameID/, (f) => of(f, { nameId: '' })],
  ['SA-34 two roots', /well-formed/, (f) => `${genuine(f)}<x/>`],
  ['SA-34 text behind the root', /text outside/, (f) => `${genuine(f)}x`],
  ['SA-34 a second byte order mark', /text outside/, (f) => `\uFEFF\uFEFF${genuine(f)}`],
  ['SA-34 UTF-7', /not declared as UTF-8/, (f) => `<?xml version="1.0" encoding="UTF-7"?>${genuine(f)}`],
  [
    'SA-36 a LogoutResponse, signed',
    /not a Response/,
    (f) => f.sign(f.response('', { name: 'samlp:LogoutResponse' }), '_r1'),
  ],
];

const cbc = { content: 'http://www.w3.org/2001/04/xmlenc#aes256-cbc' };
/** An assertion, signed unless another is given, encrypted for the portal. */
const sealed = (f: Forger, { portalCertificate }: Pick<Tools, 'portalCertificate'>, xml = signed(f), how = {}) =>
  encrypted(xml, portalCertificate, how);
const answer = async (f: Forger, tools: Pick<Tools, 'portalCertificate'>, xml?: string) =>
  f.response(await sealed(f, tools, xml));
const inSigned = async (f: Forger, tools: Tools, how: object) =>
  signedResponse(f, await sealed(f, tools, signed(f), how));
const needsSigned = /AES-CBC, which requires a signed response/;
/** With one byte of the ciphertext changed. */
function tampered(xml: string, place: number): string {
  const at = xml.lastIndexOf('<e:CipherValue>') + '<e:CipherValue>'.length;
  const end = xml.indexOf('<', at);
  const data = Buffer.from(xml.slice(at, end), 'base64');
  data[place] = (data[place] ?? 0) ^ 1;
  return xml.slice(0, at) + data.toString('base64') + xml.slice(end);
}

const sealedAnswers: Forgery[] = [
  ['SA-35 encrypted, not signed', notSigned, (f, tools) => answer(f, tools, f.assertion())],
  [
    'SA-35 encrypted for somebody else',
    /no portal key/,
    (f, { otherKey }) => answer(f, { portalCertificate: otherKey.certificate }),
  ],
  [
    'SA-35 its key by rsa-1_5',
    /encrypted by .*rsa-1_5/,
    (f, tools) => inSigned(f, tools, { transport: 'http://www.w3.org/2001/04/xmlenc#rsa-1_5' }),
  ],
  [
    'SA-35 by AES-CBC, in an unsigned response',
    needsSigned,
    async (f, tools) => f.response(await sealed(f, tools, signed(f), cbc)),
  ],
  ...[0, 7].map(
    (place): Forgery => [
      `SA-35 by AES-CBC, byte ${place} changed after`,
      /its Response is not verified/,
      async (f, tools) => tampered(await inSigned(f, tools, cbc), place),
    ],
  ),
  [
    'SA-35 another one beside the signed one',
    two,
    async (f, tools) => f.response(signed(f) + (await sealed(f, tools, evil(f)))),
  ],
  ['SA-35 a wrapped one', notSigned, (f, tools) => answer(f, tools, evil(f, '_evil', signed(f)))],
  ['SA-35 a DOCTYPE inside', /document type/, (f, tools) => answer(f, tools, `<!DOCTYPE x>${signed(f)}`)],
];

const other = 'https://other.example/';
const forAudiences = (f: Forger, ...names: string[]) => ({ conditions: f.conditions(audience(...names)) });
const conditioned = (f: Forger, times: Record<string, string | null>) => ({
  conditions: f.conditions(undefined, times),
});
const confirmed = (f: Forger, data: Record<string, string | null>) => ({ confirmation: f.confirmation(data) });
const named = (f: Forger, more: string) => ({
  nameId: changed(f.nameId('bob-1'), '<saml:NameID', `<saml:NameID ${more}`),
});
const issued = (by: string) => ({ issuer: `<saml:Issuer>${by}</saml:Issuer>` });
const status = (code: string) => `<samlp:Status><samlp:StatusCode Value="${code}"/></samlp:Status>`;
const nothing = () => ({});

/** The provider's valid signatures, on answers for somebody else or another time: parts of assertion and response. */
const misdirected: [name: string, words: RegExp, parts: (f: Forger) => Parts, response?: ResponseParts][] = [
  ['SA-18 for another audience', /is for "https:\/\/other/, (f) => forAudiences(f, other)],
  ['SA-18 for us and another', /is for .*other/, (f) => forAudiences(f, f.scene.audience, other)],
  ['SA-18 for one that begins as we do', /is for/, (f) => forAudiences(f, `${f.scene.audience}.evil.example`)],
  ['SA-19 for another recipient', /recipient "https:\/\/other/, (f) => confirmed(f, { Recipient: other })],
  ['SA-20 another destination', /Destination is "https:/, nothing, { destination: ` Destination="${other}"` }],
  ['SA-20 no destination', /Destination is nothing/, nothing, { destination: '' }],
  ['SA-21 another issuer of the response', /issuer of the response/, nothing, issued(other)],
  ['SA-21 another issuer of the assertion', /issuer of the assertion/, () => issued(other)],
  ['SA-22 a refusal with a signed assertion', /the provider says/, nothing, { status: status('urn:Requester') }],
  [
    'SA-23 the holder of a key is confirmed, not who brings it',
    /confirmed by/,
    (f) => ({ confirmation: f.confirmation({}, 'urn:oasis:names:tc:SAML:2.0:cm:holder-of-key') }),
  ],
  ['SA-24 nobody signed in', /anyone signed in/, () => ({ authn: '' })],
  [
    'SA-24 the session at the provider is over',
    /session at the provider ended/,
    (f) => ({ authn: f.authn({ SessionNotOnOrAfter: f.at(-200_000) }) }),
  ],
  ['SA-25 its conditions have ended', /the assertion ended/, (f) => conditioned(f, { NotOnOrAfter: f.at(-120_000) })],
  ['SA-25 its conditions have not begun', /valid from/, (f) => conditioned(f, { NotBefore: f.at(120_001) })],
  [
    'SA-25 it is older than we accept, valid for years as it says',
    /too old/,
    (f) => ({ issuedAt: f.at(-720_000), ...conditioned(f, { NotOnOrAfter: f.at(1e11) }) }),
  ],
  ['SA-25 it was issued in the future', /in the future/, (f) => ({ issuedAt: f.at(120_001) })],
  ['SA-25 its confirmation has ended', /subject ended/, (f) => confirmed(f, { NotOnOrAfter: f.at(-120_000) })],
  ['SA-26 the response answers no request', /it answers nothing/, nothing, { inResponseTo: '' }],
  ['SA-26 it answers another request', /it answers "_other"/, nothing, { inResponseTo: ' InResponseTo="_other"' }],
  ['SA-26 the assertion answers none', /assertion answers nothing/, (f) => confirmed(f, { InResponseTo: null })],
  [
    'SA-40 the NameID is for one visit',
    /transient/,
    (f) => ({ nameId: f.nameId('x-1', 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient') }),
  ],
  ['SA-40 a name that somebody else gave', /another party/, (f) => named(f, `NameQualifier="${other}"`)],
];

/** The amount of costly content: as much as fits into the longest answer. */
const filled = (piece: string, length = 180_000) => piece.repeat(Math.floor(length / piece.length));
/** From a forger who has seen a genuine answer: everything is correct, plus this inside. */
const holding = (end: string) => put(/(?=<\/saml:Assertion>)/, end);
const counted = /too many elements, attributes or entities/;

/** Answers designed to cost time, by somebody without the provider's key. */
const costly: Forgery[] = [
  ['SA-43 elements', counted, holding(filled('<a/>'))],
  ['SA-43 entities', counted, holding(`<a>${filled('&amp;')}</a>`)],
  ['SA-43 a namespace', notVerified, holding(`<a xmlns="urn:${'a'.repeat(50_000)}">${filled('<b/>', 3000)}</a>`)],
  ['SA-43 a digest', /signature of its Assertion is too long/, put(/(<ds:DigestValue>)[^<]*/, `$1${filled('A')}`)],
  [
    'SA-43 transforms',
    badShape,
    put('</ds:Transforms>', `${`<ds:Transform Algorithm="${exclusive}"/>`.repeat(200)}$&`),
  ],
  [
    'SA-43 elements that are encrypted',
    /encrypted cannot be read: it has too many elements/,
    (f, tools) => answer(f, tools, changed(signed(f), /(?=<\/saml:Assertion>)/, filled('<a/>', 100_000))),
  ],
];

const inXml: Forgery[] = [
  ...wrapped,
  ...weaklySigned,
  ...misdirected.map(([name, words, parts, response]): Forgery => {
    return [name, words, (f) => f.response(signed(f, parts(f)), response)];
  }),
  ...misread,
  ...sealedAnswers,
  ...costly,
];

/** Every forgery that is refused whatever the connection's settings, by attack id. */
export const forgeries: Forgery[] = [
  ...inXml.map(([name, words, make]): Forgery => [name, words, async (f, tools) => field(await make(f, tools))]),
  ['SA-34 UTF-16', /base64 of UTF-8|text outside|well-formed/, (f) => utf16(f).toString('base64')],
  ['SA-34 bytes that are not UTF-8', /not base64 of UTF-8/, (f) => latin1(f).toString('base64')],
  ['SA-34 base64 with something else in it', /not base64/, (f) => `${field(genuine(f))}!`],
  ['SA-34 nothing', /not base64/, () => ''],
];
