import { type Forger, field } from '../forged-saml.ts';
import { changed, type Forgery, forged, genuine, inXml } from './forgery.ts';

type Parts = Parameters<Forger['assertion']>[0];
const of = (f: Forger, parts: Parts) => f.response(f.sign(f.assertion(parts)));
const unusable = /cannot be used/;

/** NameIDs that the provider really signs, and that another parser would cut. */
const signedNames: [string, RegExp, string][] = [
  ['a comment', /comment/, 'admin-1<!-- -->.evil'],
  ['a processing instruction', /processing instruction/, 'admin-1<?x y?>.evil'],
  ['CDATA', /CDATA/, '<![CDATA[admin-1]]>.evil'],
  ['an element', /NameID nothing cannot/, 'admin-1<x/>.evil'],
  ['a line', unusable, 'admin-1&#10;.evil'],
  ['nothing', unusable, ''],
  ['a space at its end', unusable, 'bob-1 '],
  ['256 characters', unusable, 'a'.repeat(256)],
];

/** Inserted after signing, where a signature over canonical XML does not cover it, or the parser misreads it. */
const putIn: [string, RegExp, string][] = [
  ['a comment', /comment/, '<!-- -->'],
  ['an entity', /well-formed/, '&x;'],
  ['NUL by its number', /not verified/, '&#0;'],
  ['half a character by its number', /not verified/, '&#xD800;'],
  ['a number after a large X', /not verified/, '&#X41;'],
  ['a number that is too large', /not verified/, '&#9999999;'],
];

const commented = { email: 'admin@corp-b.example<!-- -->.evil' };
const script = { x: '<script xmlns="http://www.w3.org/1999/xhtm&#108;">1</script>' };
const subject = (f: Forger, name: string) => `<saml:Subject>${f.nameId(name)}${f.confirmation()}</saml:Subject>`;
const declared = (f: Forger, how: string) => `<?xml ${how}?>${genuine(f)}`;
const samlp = 'xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol"';

const ofXml = inXml([
  ...signedNames.map(([name, words, text]): Parameters<typeof inXml>[0][number] => [
    `SA-17 ${name} in the NameID`,
    words,
    (f) => of(f, { nameId: f.nameId(text) }),
  ]),
  ...putIn.map(([name, words, text]): Parameters<typeof inXml>[0][number] => [
    `SA-17 ${name} in the NameID, put in after signing`,
    words,
    (f) => changed(genuine(f), 'bob-1', `bob-1${text}`),
  ]),
  ['SA-17 a comment in an attribute', /comment/, (f) => of(f, { attributes: f.attributes(commented) })],
  ['SA-17 a script of XHTML, read by other rules', /XHTML/, (f) => of(f, { attributes: f.attributes(script) })],
  ['SA-17 two NameIDs', /one NameID/, (f) => of(f, { nameId: f.nameId('bob-1') + f.nameId('admin-1') })],
  ['SA-17 no NameID', /one NameID/, (f) => of(f, { nameId: '' })],
  ['SA-17 two Subjects', /one Subject/, (f) => of(f, { subject: subject(f, 'bob-1') + subject(f, 'admin-1') })],
  ['SA-34 two roots', /well-formed/, (f) => `${genuine(f)}<x/>`],
  ['SA-34 text behind the root', /text outside/, (f) => `${genuine(f)}x`],
  ['SA-34 text before the root', /text outside/, (f) => `x${genuine(f)}`],
  ['SA-34 a byte order mark', /text outside/, (f) => `\uFEFF${genuine(f)}`],
  ['SA-34 declared as UTF-7', /not declared as UTF-8/, (f) => declared(f, 'version="1.0" encoding="UTF-7"')],
  ['SA-34 declared as XML 1.1', /not declared as UTF-8/, (f) => declared(f, 'version="1.1" encoding="UTF-8"')],
  ['SA-34 an attribute twice', /not well-formed/, (f) => changed(genuine(f), 'Version="2.0"', '$& $&')],
  ...['LogoutResponse', 'AuthnRequest', 'LogoutRequest', 'ArtifactResponse'].map(
    (name): Parameters<typeof inXml>[0][number] => [
      `SA-36 a ${name}, signed`,
      /not a Response but/,
      (f) => f.sign(f.response('', { name: `samlp:${name}` }), '_r1'),
    ],
  ),
  [
    'SA-36 a response of another namespace',
    /not a Response but/,
    (f) => changed(genuine(f), samlp, 'xmlns:samlp="urn:else"'),
  ],
  ['SA-36 a response of SAML 1.1', /SAML 2.0/, (f) => f.response(f.sign(f.assertion()), { version: '1.1' })],
]);

const utf16 = (f: Forger) => Buffer.from(`\uFEFF${genuine(f)}`, 'utf16le').toString('base64');
const latin1 = (f: Forger) => Buffer.from(genuine(f).replace('bob-1', 'b\u00e4b'), 'latin1').toString('base64');

/** Names, bytes and messages that one parser would read and another would read otherwise. */
export const misreadAnswers: Forgery[] = [
  ...ofXml,
  forged('SA-34 UTF-16', /base64 of UTF-8|text outside|well-formed/, utf16),
  forged('SA-34 bytes that are not UTF-8', /not base64 of UTF-8/, latin1),
  forged('SA-34 base64 with something else in it', /not base64/, (f) => `${field(genuine(f))}!`),
  forged('SA-34 base64 for addresses', /not base64/, (f) => `_${field(genuine(f)).slice(1)}-A`),
  forged('SA-34 nothing', /not base64/, () => ''),
];
