import { type Forger, partSignature } from '../forged-saml.ts';
import { changed, evil, genuine, inXml, signedResponse } from './forgery.ts';

const signed = (f: Forger) => f.sign(f.assertion());
const extensions = (inside: string) => ({ extensions: `<samlp:Extensions>${inside}</samlp:Extensions>` });
const afterIssuer = (xml: string, more: string) => changed(xml, '</saml:Issuer>', () => `</saml:Issuer>${more}`);
const inside = (signature: string, more: string) =>
  signature.replace('</ds:Signature>', () => `${more}</ds:Signature>`);
/** Another response around what is made of a signed one. */
const aroundResponse = (f: Forger, make: (signature: string, rest: string) => string) => {
  const { signature, rest } = partSignature(signedResponse(f, f.assertion()));
  return afterIssuer(f.response(evil(f), { id: '_r2' }), make(signature, rest));
};
/** Another assertion that carries the signature, in which is what is made of the signed one. */
const carrying = (f: Forger, make: (rest: string) => string, behind: (rest: string) => string = () => '') => {
  const { signature, rest } = partSignature(signed(f));
  return f.response(afterIssuer(evil(f), inside(signature, make(rest))) + behind(rest));
};
const otherResponse = /is over "#_r1", not over "#_r2"/;
const two = /2 assertions/;

/** Valid signatures, around something else than what is read. */
export const wrappedAnswers = inXml([
  ['SA-04 XSW1: in the signature of the response around it', otherResponse, (f) => aroundResponse(f, inside)],
  [
    'SA-05 XSW2: before its signature in another response',
    otherResponse,
    (f) => aroundResponse(f, (signature, rest) => rest + signature),
  ],
  ['SA-06 XSW3: another before the signed one', two, (f) => f.response(evil(f) + signed(f))],
  ['SA-06 XSW3: another after the signed one', two, (f) => f.response(signed(f) + evil(f))],
  [
    'SA-06 one of another namespace before it',
    two,
    (f) => f.response(`<Assertion xmlns="urn:else" ID="_x"/>${signed(f)}`),
  ],
  [
    'SA-06 it is in a part of its own, another in its place',
    two,
    (f) => f.response(`<samlp:Old>${signed(f)}</samlp:Old>${evil(f)}`),
  ],
  ['SA-07 XSW4: inside another', two, (f) => f.response(evil(f, '_evil', signed(f)))],
  [
    'SA-07 in the Advice of another',
    two,
    (f) => f.response(evil(f, '_evil', `<saml:Advice>${signed(f)}</saml:Advice>`)),
  ],
  [
    'SA-08 XSW5: another carries its signature, it is at the end',
    two,
    (f) =>
      carrying(
        f,
        () => '',
        (rest) => rest,
      ),
  ],
  ['SA-08 XSW6: inside its signature in another', two, (f) => carrying(f, (rest) => rest)],
  ['SA-10 XSW7: another with its ID in Extensions', two, (f) => f.response(signed(f), extensions(evil(f, '_a1')))],
  ['SA-10 XSW7: in Extensions, another in its place', two, (f) => f.response(evil(f), extensions(signed(f)))],
  [
    'SA-11 XSW8: in an Object of its signature in another',
    two,
    (f) => carrying(f, (rest) => `<ds:Object>${rest}</ds:Object>`),
  ],
  [
    'SA-11 an Object in its signature',
    /parts that do not belong/,
    (f) => inside(genuine(f), '<ds:Object>more</ds:Object>'),
  ],
]);
