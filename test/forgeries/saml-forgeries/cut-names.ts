import { field } from '../forged-saml.ts';
import { answer, changed, type Forgery, forged } from './forgery.ts';

/** What the provider really signs, and how another parser would read it. */
const signed: [string, RegExp, string][] = [
  ['a comment', /comment/, 'admin-1<!-- -->.evil'],
  ['a processing instruction', /processing instruction/, 'admin-1<?x y?>.evil'],
  ['CDATA', /CDATA/, '<![CDATA[admin-1]]>.evil'],
  ['an element', /NameID nothing cannot/, 'admin-1<x/>.evil'],
  ['a line', /cannot be used/, 'admin-1&#10;.evil'],
  ['nothing', /cannot be used/, ''],
  ['a space at its end', /cannot be used/, 'bob-1 '],
  ['256 characters', /cannot be used/, 'a'.repeat(256)],
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

/** NameIDs and attributes that one parser would truncate and another would not. */
export const cutNames: Forgery[] = [
  ...signed.map(([name, words, text]) =>
    forged(`SA-17 ${name} in the NameID`, words, (f) => answer(f, { nameId: f.nameId(text) })),
  ),
  ...putIn.map(([name, words, text]) =>
    forged(`SA-17 ${name} in the NameID, put in after signing`, words, (f) =>
      field(f.response(changed(f.sign(f.assertion()), 'bob-1', `bob-1${text}`))),
    ),
  ),
  forged('SA-17 a comment in an attribute', /comment/, (f) =>
    answer(f, { attributes: f.attributes({ email: 'admin@corp-b.example<!-- -->.evil' }) }),
  ),
  forged('SA-17 a script of XHTML, which the parser reads by other rules', /XHTML/, (f) =>
    answer(f, {
      attributes: f.attributes({ x: '<script xmlns="http://www.w3.org/1999/xhtm&#108;">1</script>' }),
    }),
  ),
  forged('SA-17 two NameIDs', /one NameID/, (f) => answer(f, { nameId: f.nameId('bob-1') + f.nameId('admin-1') })),
  forged('SA-17 no NameID', /one NameID/, (f) => answer(f, { nameId: '' })),
  forged('SA-17 two Subjects', /one Subject/, (f) => {
    const subject = (name: string) => `<saml:Subject>${f.nameId(name)}${f.confirmation()}</saml:Subject>`;
    return answer(f, { subject: subject('bob-1') + subject('admin-1') });
  }),
];
