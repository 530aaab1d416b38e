import { enveloped, exclusive, type Forger, partSignature, rsaSha256 } from '../forged-saml.ts';
import { changed, genuine, inXml, signedResponse } from './forgery.ts';

const sha1 = 'http://www.w3.org/2000/09/xmldsig#sha1';
const rsaSha1 = 'http://www.w3.org/2000/09/xmldsig#rsa-sha1';
const hmacSha1 = 'http://www.w3.org/2000/09/xmldsig#hmac-sha1';
const inclusive = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315';
const withComments = `${exclusive}WithComments`;

/** A response with an assertion that is signed in this way. */
const by = (f: Forger, options: Parameters<Forger['sign']>[2]) => f.response(f.sign(f.assertion(), '_a1', options));
/** A genuine answer with a part twice. */
const doubled = (f: Forger, part: RegExp) => changed(genuine(f), part, (found) => found + found);
const twins = { extensions: '<samlp:Extensions><x xmlns="urn:x" Id="_a1"/></samlp:Extensions>' };
const hidden = '<ds:KeyName>k</ds:KeyName><ds:SignedInfo/>';
const notSigned = /Assertion is not signed/;
const badShape = /parts that do not belong/;

/** Signatures that are missing, foreign, or of a forbidden kind. */
export const weaklySignedAnswers = inXml([
  ['SA-01 nothing is signed', notSigned, (f) => f.response(f.assertion())],
  ['SA-02 the response is signed, the assertion is not', notSigned, (f) => signedResponse(f, f.assertion())],
  [
    'SA-02 the assertion’s signature is cut out',
    notSigned,
    (f) => signedResponse(f, partSignature(f.sign(f.assertion())).rest),
  ],
  [
    'SA-02 the signature around a true one is not true',
    /not verified/,
    (f) => changed(signedResponse(f, f.sign(f.assertion())), ' IssueInstant', ' Consent="urn:x" IssueInstant'),
  ],
  [
    'SA-12 two elements with one ID',
    /multiple elements with the same value/,
    (f) => f.response(f.sign(f.assertion()), twins),
  ],
  ['SA-12 two signatures in the assertion', /two signatures/, (f) => doubled(f, /<ds:Signature .*<\/ds:Signature>/s)],
  ['SA-12 two SignedInfo', badShape, (f) => doubled(f, /<ds:SignedInfo>.*<\/ds:SignedInfo>/s)],
  ['SA-12 a SignedInfo of the forger hides in KeyInfo', badShape, (f) => by(f, { keyInfo: hidden })],
  ['SA-12 two references', badShape, (f) => doubled(f, /<ds:Reference .*<\/ds:Reference>/s)],
  ['SA-12 a comment in DigestValue', /comment/, (f) => changed(genuine(f), '<ds:DigestValue>', '$&<!-- x -->')],
  [
    'SA-13 no transforms',
    badShape,
    (f) => changed(genuine(f), /<ds:Transforms>.*<\/ds:Transforms>/s, '<ds:Transforms/>'),
  ],
  ...['xslt', 'xpath'].map((name): Parameters<typeof inXml>[0][number] => [
    `SA-13 a transform by ${name}`,
    new RegExp(`${name}.* is not supported`),
    (f) => changed(genuine(f), enveloped, `http://www.w3.org/TR/1999/REC-${name}-19991116`),
  ]),
  ['SA-13 with comments', /WithComments. is not/, (f) => by(f, { canonicalization: withComments })],
  [
    'SA-13 a transform that keeps comments',
    /WithComments. is not/,
    (f) => by(f, { transforms: [enveloped, withComments] }),
  ],
  ['SA-13 canonicalized with what is around', /20010315. is not/, (f) => by(f, { transforms: [enveloped, inclusive] })],
  ['SA-13 it is over the whole document', /is over ""/, (f) => by(f, { emptyUri: true })],
  [
    'SA-13 it is over the response',
    /is over "#_r1"/,
    (f) => {
      const { signature, rest } = partSignature(signedResponse(f, f.assertion()));
      return changed(rest, /(<saml:Assertion.*?<\/saml:Issuer>)/s, `$1${signature}`);
    },
  ],
  [
    'SA-14 HMAC, with the certificate for a key',
    /hmac-sha1. is not supported/,
    (f) => changed(genuine(f), rsaSha256, hmacSha1),
  ],
  ['SA-15 a signature by SHA-1', /rsa-sha1. is not supported/, (f) => by(f, { algorithm: rsaSha1 })],
  ['SA-15 a digest by SHA-1', /hash algorithm .*sha1. is not supported/, (f) => by(f, { digest: sha1 })],
  [
    'SA-15 that around a good one is by SHA-1',
    /its Response is not verified.*rsa-sha1/,
    (f) => f.sign(genuine(f), '_r1', { algorithm: rsaSha1 }),
  ],
  [
    'SA-16 by the forger’s key, whose certificate is in KeyInfo',
    /not verified/,
    (f, { otherKey }) => by(f, { key: otherKey }),
  ],
  ['SA-16 by a key whose certificate has ended', /not verified/, (f, { endedKey }) => by(f, { key: endedKey })],
  ['SA-16 the NameID is changed after signing', /not verified/, (f) => changed(genuine(f), 'bob-1', 'bob-2')],
]);
