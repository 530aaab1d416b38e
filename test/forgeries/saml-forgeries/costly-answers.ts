import { encrypted, type Forger, field } from '../forged-saml.ts';
import { changed, type Forgery, forged } from './forgery.ts';

/** The amount of costly content: as much as fits into the longest answer. */
const bytes = 180_000;

const filled = (piece: string, length = bytes) => piece.repeat(Math.floor(length / piece.length));
const numbered = (count: number, piece: (at: number) => string, between = '') =>
  Array.from({ length: count }, (_, at) => piece(at)).join(between);

/** An answer from a forger who has seen a genuine one: everything is correct, plus this inside. */
const inside = (f: Forger, end: string) => f.response(changed(f.sign(f.assertion()), /(?=<\/saml:Assertion>)/, end));
const inSignature = (f: Forger, from: string | RegExp, to: string) =>
  f.response(changed(f.sign(f.assertion()), from, to));

const prefixList = (list: string) => (f: Forger) =>
  inSignature(
    f,
    /(<ds:Transform Algorithm="http:\/\/www.w3.org\/2001\/10\/xml-exc-c14n#")\/>/,
    `$1><e:InclusiveNamespaces xmlns:e="http://www.w3.org/2001/10/xml-exc-c14n#" PrefixList="${list}"/></ds:Transform>`,
  );

const counted = /too many elements, attributes or entities/;
const tooLong = /signature of its Assertion is too long/;
const badShape = /parts that do not belong/;
const unsigned = /not verified/;
type Costly = [name: string, words: RegExp, make: (f: Forger, certificate: string) => string | Promise<string>];

const costly: Costly[] = [
  ['elements', counted, (f) => inside(f, filled('<a/>'))],
  ['attributes', counted, (f) => inside(f, `<a ${numbered(10_000, (at) => `a${at}=""`, ' ')}/>`)],
  ['entities', counted, (f) => inside(f, `<a>${filled('&amp;')}</a>`)],
  ['entities in an attribute', counted, (f) => inside(f, `<a b="${filled('&#65;')}"/>`)],
  ['namespaces', counted, (f) => inside(f, `<a ${numbered(5000, (at) => `xmlns:p${at}="urn:${at}"`, ' ')}/>`)],
  ['nesting', counted, (f) => inside(f, '<a>'.repeat(20_000) + '</a>'.repeat(20_000))],
  ['nesting within the limit', unsigned, (f) => inside(f, '<a>'.repeat(1400) + '</a>'.repeat(1400))],
  [
    'namespaces of elements in each other',
    unsigned,
    (f) => inside(f, numbered(900, (at) => `<a xmlns:p${at}="urn:x">`) + '</a>'.repeat(900)),
  ],
  [
    'a long namespace used by many elements',
    unsigned,
    (f) => inside(f, `<a xmlns="urn:${'a'.repeat(50_000)}">${filled('<b/>', 3000)}</a>`),
  ],
  ['text', unsigned, (f) => inside(f, filled('>'))],
  ['white space in a tag', unsigned, (f) => inside(f, `<a${filled(' ')}b=""/>`)],
  ['a list of prefixes', tooLong, prefixList(numbered(20_000, (at) => `p${at}`, ' '))],
  ['a digest', tooLong, (f) => inSignature(f, /(<ds:DigestValue>)[^<]*/, `$1${filled('A')}`)],
  [
    'transforms',
    badShape,
    (f) =>
      inSignature(
        f,
        '</ds:Transforms>',
        `${'<ds:Transform Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"/>'.repeat(200)}</ds:Transforms>`,
      ),
  ],
  [
    'everything up to the limit',
    unsigned,
    (f) =>
      inside(
        f,
        numbered(480, (at) => `<p:b xmlns:p="urn:p" c="&lt;" d="${at}">${'e'.repeat(80)}</p:b>`),
      ),
  ],
  [
    'elements that are encrypted',
    /encrypted cannot be read: it has too many elements/,
    async (f, certificate) => {
      const [signed = ''] = /<saml:Assertion .*<\/saml:Assertion>/s.exec(inside(f, filled('<a/>', 100_000))) ?? [];
      return f.response(await encrypted(signed, certificate));
    },
  ],
];

/** Answers designed to cost time, by somebody without the provider's key. */
export const costlyAnswers: Forgery[] = costly.map(([name, words, make]) =>
  forged(`SA-43 ${name}`, words, async (f, { portalCertificate }) => field(await make(f, portalCertificate))),
);
