import { enveloped, exclusive, field, partSignature, rsaSha256 } from '../forged-saml.ts';
import { changed, type Forgery, forged, signedResponse } from './forgery.ts';

/** Signatures that are missing, foreign, or of a forbidden kind. */
export const weaklySignedAnswers: Forgery[] = [
  forged('SA-01 nothing is signed', /Assertion is not signed/, (f) => field(f.response(f.assertion()))),
  forged('SA-02 the response is signed, the assertion is not', /Assertion is not signed/, (f) =>
    field(signedResponse(f, f.assertion())),
  ),
  forged(
    'SA-02 the signature of the assertion is cut out of a response that is signed',
    /Assertion is not signed/,
    (f) => field(signedResponse(f, partSignature(f.sign(f.assertion())).rest)),
  ),
  forged('SA-02 the response carries a signature that is not true, the assertion a true one', /not verified/, (f) =>
    field(changed(signedResponse(f, f.sign(f.assertion())), ' IssueInstant', ' Consent="urn:x" IssueInstant')),
  ),
  forged('SA-12 two elements with one ID', /multiple elements with the same value for the ID/, (f) =>
    field(
      f.response(f.sign(f.assertion()), {
        extensions: '<samlp:Extensions><x xmlns="urn:x" Id="_a1"/></samlp:Extensions>',
      }),
    ),
  ),
  forged('SA-12 two signatures in the assertion', /two signatures/, (f) => {
    const signed = f.sign(f.assertion());
    const { signature } = partSignature(signed);
    return field(f.response(changed(signed, '</ds:Signature>', `</ds:Signature>${signature}`)));
  }),
  forged('SA-12 two SignedInfo', /parts that do not belong in a signature/, (f) => {
    const signed = f.sign(f.assertion());
    const [info = ''] = /<ds:SignedInfo>.*<\/ds:SignedInfo>/s.exec(signed) ?? [];
    return field(f.response(changed(signed, info, info + info)));
  }),
  forged('SA-12 a SignedInfo of the forger hides in KeyInfo', /parts that do not belong/, (f) =>
    field(f.response(f.sign(f.assertion(), '_a1', { keyInfo: '<ds:KeyName>k</ds:KeyName><ds:SignedInfo/>' }))),
  ),
  forged('SA-12 two references', /parts that do not belong/, (f) => {
    const signed = f.sign(f.assertion());
    const [reference = ''] = /<ds:Reference .*<\/ds:Reference>/s.exec(signed) ?? [];
    return field(f.response(changed(signed, reference, reference + reference)));
  }),
  forged('SA-12 a comment in DigestValue', /comment/, (f) =>
    field(changed(f.response(f.sign(f.assertion())), '<ds:DigestValue>', '<ds:DigestValue><!-- x -->')),
  ),
  forged('SA-13 no transforms', /parts that do not belong/, (f) =>
    field(changed(f.response(f.sign(f.assertion())), /<ds:Transforms>.*<\/ds:Transforms>/s, '<ds:Transforms/>')),
  ),
  forged('SA-13 a transform by XSLT', /xslt.* is not supported/, (f) =>
    field(changed(f.response(f.sign(f.assertion())), enveloped, 'http://www.w3.org/TR/1999/REC-xslt-19991116')),
  ),
  forged('SA-13 a transform by XPath', /xpath.* is not supported/, (f) =>
    field(changed(f.response(f.sign(f.assertion())), enveloped, 'http://www.w3.org/TR/1999/REC-xpath-19991116')),
  ),
  forged('SA-13 canonicalized with comments', /WithComments. is not supported/, (f) =>
    field(f.response(f.sign(f.assertion(), '_a1', { canonicalization: `${exclusive}WithComments` }))),
  ),
  forged('SA-13 a transform that keeps comments', /WithComments. is not supported/, (f) =>
    field(f.response(f.sign(f.assertion(), '_a1', { transforms: [enveloped, `${exclusive}WithComments`] }))),
  ),
  forged('SA-13 canonicalized with all that is around', /xml-c14n-20010315. is not supported/, (f) =>
    field(
      f.response(
        f.sign(f.assertion(), '_a1', { transforms: [enveloped, 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315'] }),
      ),
    ),
  ),
  forged('SA-13 the signature of the assertion is over the whole document', /is over ""/, (f) =>
    field(f.response(f.sign(f.assertion(), '_a1', { emptyUri: true }))),
  ),
  forged('SA-13 the signature of the assertion is over the response', /is over "#_r1"/, (f) => {
    const { signature, rest } = partSignature(signedResponse(f, f.assertion()));
    const at = rest.indexOf('</saml:Issuer>', rest.indexOf('<saml:Assertion'));
    return field(`${rest.slice(0, at)}</saml:Issuer>${signature}${rest.slice(at + '</saml:Issuer>'.length)}`);
  }),
  forged('SA-14 a signature by HMAC, with the certificate for a key', /hmac-sha1. is not supported/, (f) =>
    field(changed(f.response(f.sign(f.assertion())), rsaSha256, 'http://www.w3.org/2000/09/xmldsig#hmac-sha1')),
  ),
  forged('SA-15 a signature by SHA-1', /rsa-sha1. is not supported/, (f) =>
    field(f.response(f.sign(f.assertion(), '_a1', { algorithm: 'http://www.w3.org/2000/09/xmldsig#rsa-sha1' }))),
  ),
  forged('SA-15 a digest by SHA-1', /hash algorithm .*sha1. is not supported/, (f) =>
    field(f.response(f.sign(f.assertion(), '_a1', { digest: 'http://www.w3.org/2000/09/xmldsig#sha1' }))),
  ),
  forged('SA-15 the signature around a good one is by SHA-1', /its Response is not verified.*rsa-sha1/, (f) =>
    field(
      f.sign(f.response(f.sign(f.assertion())), '_r1', { algorithm: 'http://www.w3.org/2000/09/xmldsig#rsa-sha1' }),
    ),
  ),
  forged("SA-16 signed by the forger's key, with its certificate in KeyInfo", /not verified/, (f, { otherKey }) =>
    field(f.response(f.sign(f.assertion(), '_a1', { key: otherKey }))),
  ),
  forged('SA-16 signed by a key of the provider whose certificate has ended', /not verified/, (f, { endedKey }) =>
    field(f.response(f.sign(f.assertion(), '_a1', { key: endedKey }))),
  ),
  forged('SA-16 one letter of the NameID is changed after signing', /not verified/, (f) =>
    field(f.response(changed(f.sign(f.assertion()), 'bob-1', 'bob-2'))),
  ),
];
