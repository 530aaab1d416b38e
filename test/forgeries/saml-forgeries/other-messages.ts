import { type Forger, field } from '../forged-saml.ts';
import { changed, type Forgery, forged } from './forgery.ts';

/** Messages that are not SAML responses. */
export const otherMessages: Forgery[] = [
  ...['LogoutResponse', 'AuthnRequest', 'LogoutRequest', 'ArtifactResponse'].map((name) =>
    forged(`SA-36 a ${name}, signed`, /not a Response but/, (f: Forger) =>
      field(f.sign(f.response('', { name: `samlp:${name}` }), '_r1')),
    ),
  ),
  forged('SA-36 a response of another namespace', /not a Response but/, (f) =>
    field(
      changed(
        f.response(f.sign(f.assertion())),
        'xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol"',
        'xmlns:samlp="urn:else"',
      ),
    ),
  ),
  forged('SA-36 a response of SAML 1.1', /SAML 2.0/, (f) =>
    field(f.response(f.sign(f.assertion()), { version: '1.1' })),
  ),
];
