import { encrypted, type Forger, field } from '../forged-saml.ts';
import { changed, type Forgery, forged } from './forgery.ts';

/** The amount of costly content: as much as fits into the longest answer. */
const bytes = 180_000;

const filled = (piece: string, length = bytes) => piece.repeat(Math.floor(length / piece.length));
const numbered = (count: number, piece: (at: number) => string, between = '') =>
  Array.from({ length: count }, (_, at) => piece(at)).join(between);

/** An answer from a forger who has seen a genuine one: everything is correct, plus this inside. */
const beside = (f: Forger, extensions: string) =>
  f.response(f.sign(f.assertion()), { extensions: `<samlp:Extensions>${extensions}</samlp:Extensions>` });
const inside = (f: Forger, end: string) => f.response(changed(f.sign(f.assertion()), /(?=<\/saml:Assertion>)/, end));
const inSignature = (f: Forger, from: string | RegExp, to: string) =>
  f.response(changed(f.sign(f.assertion()), from, to));

const exclusiveTransform = /(<ds:Transform Algorithm="http:\/\/www.w3.org\/2001\/10\/xml-exc-c14n#")\/>/;
const partOf = (xml: string) => /<saml:Assertion .*<\/saml:Assertion>/s.exec(xml)?.[0] ?? '';

const attributes = (values: string) =>
  `<saml:AttributeStatement><saml:Attribute Name="groups">${values}</saml:Attribute></saml:AttributeStatement>`;
const prefixes = (count: number) => numbered(count, (at) => `xmlns:p${at}="urn:${at}"`, ' ');

type Costly = [name: string, words: RegExp, make: (f: Forger, certificate: string) => string | Promise<string>];

const costly: Costly[] = [
  ['elements beside the assertion', /too many elements/, (f) => beside(f, filled('<a/>'))],
  ['elements in the assertion', /too many elements/, (f) => inside(f, filled('<a/>'))],
  [
    'elements in the signature',
    /too many elements/,
    (f) => inSignature(f, '<ds:KeyInfo>', `<ds:KeyInfo>${filled('<a/>')}`),
  ],
  [
    'values of an attribute',
    /too many elements/,
    (f) => inside(f, attributes(filled('<saml:AttributeValue>a</saml:AttributeValue>'))),
  ],
  [
    'attributes of many elements',
    /too many attributes/,
    (f) =>
      inside(
        f,
        numbered(300, () => `<a ${numbered(10, (at) => `a${at}=""`, ' ')}/>`),
      ),
  ],
  [
    'attributes of one element',
    /malformed tag/,
    (f) => inside(f, `<a ${numbered(10_000, (at) => `a${at}=""`, ' ')}/>`),
  ],
  ['nesting', /nested too deep/, (f) => inside(f, '<a>'.repeat(39) + filled('<a/>', 50_000) + '</a>'.repeat(39))],
  ['namespaces of one element', /malformed tag/, (f) => inside(f, `<a ${prefixes(5000)}/>`)],
  [
    'namespaces of many elements',
    /too many namespaces/,
    (f) =>
      inside(
        f,
        numbered(200, (n) => `<a ${numbered(10, (at) => `xmlns:p${n}x${at}="urn:x"`, ' ')}/>`),
      ),
  ],
  [
    'one prefix again and again',
    /too many namespaces/,
    (f) =>
      inside(
        f,
        numbered(900, (n) => `<a xmlns:p="urn:${n}"/>`),
      ),
  ],
  [
    'namespaces of elements in each other',
    /too many namespaces/,
    (f) =>
      inside(
        f,
        numbered(12, (n) => `<a ${numbered(15, (at) => `xmlns:p${n}x${at}="urn:x"`, ' ')}>`) +
          filled('<b/>', 3000) +
          '</a>'.repeat(12),
      ),
  ],
  [
    'a long namespace used by many elements',
    /tag that is too long/,
    (f) => inside(f, `<a xmlns="urn:${'a'.repeat(50_000)}">${filled('<b/>', 3000)}</a>`),
  ],
  [
    'long namespaces',
    /tag that is too long/,
    (f) =>
      inside(
        f,
        numbered(15, (at) => `<a xmlns:p="urn:${at}${'a'.repeat(10_000)}"/>`),
      ),
  ],
  [
    'a long prefix',
    /tag that is too long/,
    (f) => inside(f, `<${'a'.repeat(20_000)}:a xmlns:${'a'.repeat(20_000)}="urn:x"/>`),
  ],
  [
    'long names',
    /name that is too long/,
    (f) =>
      inside(
        f,
        numbered(100, (at) => `<a${at}${'a'.repeat(1500)}/>`),
      ),
  ],
  [
    'a list of prefixes',
    /tag that is too long/,
    (f) =>
      inSignature(
        f,
        exclusiveTransform,
        `$1><e:InclusiveNamespaces xmlns:e="http://www.w3.org/2001/10/xml-exc-c14n#" PrefixList="${numbered(20_000, (at) => `p${at}`, ' ')}"/></ds:Transform>`,
      ),
  ],
  [
    'a list of one prefix',
    /tag that is too long/,
    (f) =>
      inSignature(
        f,
        exclusiveTransform,
        `$1><e:InclusiveNamespaces xmlns:e="http://www.w3.org/2001/10/xml-exc-c14n#" PrefixList="${filled('saml ')}"/></ds:Transform>`,
      ),
  ],
  [
    'signatures',
    /too many parts of signatures/,
    (f) => {
      const signed = f.sign(f.assertion());
      const [signature = ''] = /<ds:Signature .*<\/ds:Signature>/s.exec(signed) ?? [];
      return f.response(changed(signed, '</saml:Assertion>', `${signature.repeat(40)}</saml:Assertion>`));
    },
  ],
  [
    'empty signatures',
    /too many parts of signatures/,
    (f) => inside(f, filled('<ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#"/>', 50_000)),
  ],
  [
    'references',
    /too many parts of signatures/,
    (f) =>
      inSignature(f, /<ds:Reference .*<\/ds:Reference>/s, '').replace(
        '</ds:SignedInfo>',
        `${numbered(100, () => '<ds:Reference URI="#_a1"><ds:Transforms><ds:Transform Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"/></ds:Transforms><ds:DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"/><ds:DigestValue>AAAA</ds:DigestValue></ds:Reference>')}</ds:SignedInfo>`,
      ),
  ],
  [
    'transforms',
    /too many parts of signatures/,
    (f) =>
      inSignature(
        f,
        '</ds:Transforms>',
        `${'<ds:Transform Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"/>'.repeat(200)}</ds:Transforms>`,
      ),
  ],
  ['a digest', /value that is too long/, (f) => inSignature(f, /(<ds:DigestValue>)[^<]*/, `$1${filled('A')}`)],
  [
    'a signature value',
    /value that is too long/,
    (f) => inSignature(f, /(<ds:SignatureValue>)[^<]*/, `$1${filled('A')}`),
  ],
  [
    'a signature value of many lines',
    /value that is too long/,
    (f) => inSignature(f, /(<ds:SignatureValue>)[^<]*/, `$1${filled('A\n')}`),
  ],
  ['text', /not verified/, (f) => inside(f, attributes(`<saml:AttributeValue>${filled('A')}</saml:AttributeValue>`))],
  [
    'text that looks like entities',
    /too many entities/,
    (f) => inside(f, attributes(`<saml:AttributeValue>${filled('&amp;')}</saml:AttributeValue>`)),
  ],
  [
    'numbers of characters',
    /too many entities/,
    (f) => inside(f, attributes(`<saml:AttributeValue>${filled('&#65;')}</saml:AttributeValue>`)),
  ],
  [
    'signs that are written as entities when they are signed',
    /not verified/,
    (f) => inside(f, attributes(`<saml:AttributeValue>${filled('>')}</saml:AttributeValue>`)),
  ],
  ['an attribute value of entities', /tag that is too long/, (f) => inside(f, `<a b="${filled('&amp;')}"/>`)],
  ['a long attribute value', /tag that is too long/, (f) => inside(f, `<a b="${filled('a')}"/>`)],
  ['line ends', /not verified/, (f) => inside(f, filled('\r\n'))],
  ['white space', /not verified/, (f) => inside(f, filled(' '))],
  ['white space in a tag', /tag that is too long/, (f) => inside(f, `<a${filled(' ')}b=""/>`)],
  [
    'letters of four bytes',
    /not verified/,
    (f) => inside(f, attributes(`<saml:AttributeValue>${filled('\u{1F600}', 90_000)}</saml:AttributeValue>`)),
  ],
  [
    'IDs',
    /not verified/,
    (f) =>
      inside(
        f,
        numbered(700, (at) => `<a ID="_x${at}"/>`),
      ),
  ],
  ['a value of 4 KB', /value that is too long/, (f) => inside(f, `<a b="${'a'.repeat(3000)}"/>`)],
  [
    'a short list of many prefixes',
    /transforms that are not allowed/,
    (f) =>
      inSignature(
        f,
        exclusiveTransform,
        `$1><e:InclusiveNamespaces xmlns:e="http://www.w3.org/2001/10/xml-exc-c14n#" PrefixList="${numbered(400, (at) => `p${at}`, ' ')}"/></ds:Transform>`,
      ),
  ],
  [
    'everything up to the limits',
    /not verified/,
    (f) =>
      inside(
        f,
        `<a ${prefixes(14)}>${numbered(700, (at) => `<p1:b c="&lt;" p2:d="${at}">${'e'.repeat(80)}</p1:b>`)}</a>`,
      ),
  ],
  [
    'elements that are encrypted',
    /too many elements/,
    async (f, certificate) => f.response(await encrypted(partOf(inside(f, filled('<a/>', 100_000))), certificate)),
  ],
  [
    'elements up to the limit that are encrypted',
    /not verified/,
    async (f, certificate) =>
      f.response(await encrypted(partOf(inside(f, filled('<a b="" c=""/>', 8000))), certificate)),
  ],
  [
    'keys that are encrypted',
    /too many parts of signatures/,
    async (f, certificate) =>
      f.response(
        changed(await encrypted(f.sign(f.assertion()), certificate), /<e:EncryptedKey.*<\/e:EncryptedKey>/s, (key) =>
          key.repeat(50),
        ),
      ),
  ],
];

/** Answers designed to cost time, by somebody without the provider's key. */
export const costlyAnswers: Forgery[] = costly.map(([name, words, make]) =>
  forged(`SA-43 ${name}`, words, async (f, { portalCertificate }) => field(await make(f, portalCertificate))),
);
