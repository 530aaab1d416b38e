import { field, partSignature } from '../forged-saml.ts';
import { changed, evil, type Forgery, forged, signedResponse } from './forgery.ts';

/** Valid signatures, around something else than what is read. */
export const wrappedAnswers: Forgery[] = [
  forged(
    'SA-04 XSW1: a response carries the signature of another that is inside it',
    /is over "#_r1", not over "#_r2"/,
    (f) => {
      const { signature, rest } = partSignature(signedResponse(f, f.assertion()));
      const inside = changed(signature, '</ds:Signature>', `${rest}</ds:Signature>`);
      const around = f.response(evil(f), { id: '_r2' });
      return field(changed(around, '</saml:Issuer>', `</saml:Issuer>${inside}`));
    },
  ),
  forged(
    'SA-05 XSW2: the signed response stands before its signature in another',
    /is over "#_r1", not over "#_r2"/,
    (f) => {
      const { signature, rest } = partSignature(signedResponse(f, f.assertion()));
      const around = f.response(evil(f), { id: '_r2' });
      return field(changed(around, '</saml:Issuer>', `</saml:Issuer>${rest}${signature}`));
    },
  ),
  forged('SA-06 XSW3: another assertion before the signed one', /2 assertions/, (f) =>
    field(f.response(evil(f) + f.sign(f.assertion()))),
  ),
  forged('SA-06 XSW3: another assertion after the signed one', /2 assertions/, (f) =>
    field(f.response(f.sign(f.assertion()) + evil(f))),
  ),
  forged('SA-06 another assertion of another namespace before the signed one', /2 assertions/, (f) =>
    field(f.response(`<Assertion xmlns="urn:else" ID="_x"/>${f.sign(f.assertion())}`)),
  ),
  forged('SA-06 the signed assertion is in a part of its own, another in its place', /2 assertions/, (f) =>
    field(f.response(`<samlp:Old>${f.sign(f.assertion())}</samlp:Old>${evil(f)}`)),
  ),
  forged('SA-07 XSW4: the signed assertion is inside another', /2 assertions/, (f) =>
    field(f.response(evil(f, '_evil', f.sign(f.assertion())))),
  ),
  forged('SA-07 the signed assertion is in the Advice of another', /2 assertions/, (f) => {
    const end = `<saml:Advice>${f.sign(f.assertion())}</saml:Advice>`;
    return field(f.response(evil(f, '_evil', end)));
  }),
  forged('SA-08 XSW5: another assertion carries the signature, the original stands at the end', /2 assertions/, (f) => {
    const { signature, rest } = partSignature(f.sign(f.assertion()));
    return field(f.response(changed(evil(f), '</saml:Issuer>', `</saml:Issuer>${signature}`) + rest));
  }),
  forged('SA-08 XSW6: another assertion carries the signature, the original inside of that', /2 assertions/, (f) => {
    const { signature, rest } = partSignature(f.sign(f.assertion()));
    const inside = changed(signature, '</ds:Signature>', `${rest}</ds:Signature>`);
    return field(f.response(changed(evil(f), '</saml:Issuer>', `</saml:Issuer>${inside}`)));
  }),
  forged('SA-10 XSW7: another assertion with the same ID in Extensions', /2 assertions/, (f) =>
    field(
      f.response(f.sign(f.assertion()), {
        extensions: `<samlp:Extensions>${evil(f, '_a1')}</samlp:Extensions>`,
      }),
    ),
  ),
  forged('SA-10 XSW7: the signed assertion in Extensions, another in its place', /2 assertions/, (f) =>
    field(f.response(evil(f), { extensions: `<samlp:Extensions>${f.sign(f.assertion())}</samlp:Extensions>` })),
  ),
  forged('SA-11 XSW8: another assertion carries the signature, the original in its Object', /2 assertions/, (f) => {
    const { signature, rest } = partSignature(f.sign(f.assertion()));
    const inside = changed(signature, '</ds:Signature>', `<ds:Object>${rest}</ds:Object></ds:Signature>`);
    return field(f.response(changed(evil(f), '</saml:Issuer>', `</saml:Issuer>${inside}`)));
  }),
  forged(
    'SA-11 an Object in the signature, with nothing of SAML in it',
    /parts that do not belong in a signature/,
    (f) =>
      field(
        changed(f.response(f.sign(f.assertion())), '</ds:Signature>', '<ds:Object>more</ds:Object></ds:Signature>'),
      ),
  ),
];
