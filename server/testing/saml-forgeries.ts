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

/** What is needed besides: the certificate of the portal, and keys that are not the provider's. */
export type ForgeryTools = { portalCertificate: string; otherKey: ForgerKey; endedKey: ForgerKey };

export type Forgery = {
  name: string;
  /** What the operator reads of it. */
  words: RegExp;
  /** The field as it is posted. */
  make: (forger: Forger, tools: ForgeryTools) => string | Promise<string>;
};

const status = (code: string) => `<samlp:Status><samlp:StatusCode Value="${code}"/></samlp:Status>`;
const evilName = (f: Forger) => f.nameId('admin-1');
const evil = (f: Forger, id = '_evil') => f.assertion({ id, nameId: evilName(f) });
/** A response with a signed assertion whose parts are changed. */
const answer = (f: Forger, parts: Parameters<Forger['assertion']>[0]) => field(f.response(f.sign(f.assertion(parts))));
const signedResponse = (f: Forger, inside: string, parts = {}) => f.sign(f.response(inside, parts), '_r1');
const changed = (xml: string, from: string | RegExp, to: string) => {
  const result = xml.replace(from, to);
  if (result === xml) throw new Error(`There is no ${from} in ${xml}`);
  return result;
};

/** Signatures that are true, around something else than what is read. */
const wrapped: Forgery[] = [
  {
    name: 'SA-04 XSW1: a response carries the signature of another that is inside it',
    words: /parts than a signature has|assertions/,
    make: (f) => {
      const { signature, rest } = partSignature(signedResponse(f, f.assertion()));
      const inside = changed(signature, '</ds:Signature>', `${rest}</ds:Signature>`);
      const around = f.response(evil(f), { id: '_r2' });
      return field(changed(around, '</saml:Issuer>', `</saml:Issuer>${inside}`));
    },
  },
  {
    name: 'SA-05 XSW2: the signed response stands before its signature in another',
    words: /strange part|assertions/,
    make: (f) => {
      const { signature, rest } = partSignature(signedResponse(f, f.assertion()));
      const around = f.response(evil(f), { id: '_r2' });
      return field(changed(around, '</saml:Issuer>', `</saml:Issuer>${rest}${signature}`));
    },
  },
  {
    name: 'SA-06 XSW3: another assertion before the signed one',
    words: /2 assertions/,
    make: (f) => field(f.response(evil(f) + f.sign(f.assertion()))),
  },
  {
    name: 'SA-06 XSW3: another assertion after the signed one',
    words: /2 assertions/,
    make: (f) => field(f.response(f.sign(f.assertion()) + evil(f))),
  },
  {
    name: 'SA-06 another assertion of another namespace before the signed one',
    words: /strange part/,
    make: (f) => field(f.response(`<Assertion xmlns="urn:else" ID="_x"/>${f.sign(f.assertion())}`)),
  },
  {
    name: 'SA-06 the signed assertion is in a part of its own, another in its place',
    words: /strange part|2 assertions/,
    make: (f) => field(f.response(`<samlp:Old>${f.sign(f.assertion())}</samlp:Old>${evil(f)}`)),
  },
  {
    name: 'SA-07 XSW4: the signed assertion is inside another',
    words: /2 assertions/,
    make: (f) => field(f.response(f.assertion({ id: '_evil', nameId: evilName(f), end: f.sign(f.assertion()) }))),
  },
  {
    name: 'SA-07 the signed assertion is in the Advice of another',
    words: /2 assertions/,
    make: (f) => {
      const end = `<saml:Advice>${f.sign(f.assertion())}</saml:Advice>`;
      return field(f.response(f.assertion({ id: '_evil', nameId: evilName(f), end })));
    },
  },
  {
    name: 'SA-08 XSW5: another assertion carries the signature, the original stands at the end',
    words: /2 assertions/,
    make: (f) => {
      const { signature, rest } = partSignature(f.sign(f.assertion()));
      return field(f.response(changed(evil(f), '</saml:Issuer>', `</saml:Issuer>${signature}`) + rest));
    },
  },
  {
    name: 'SA-08 XSW6: another assertion carries the signature, the original inside of that',
    words: /2 assertions/,
    make: (f) => {
      const { signature, rest } = partSignature(f.sign(f.assertion()));
      const inside = changed(signature, '</ds:Signature>', `${rest}</ds:Signature>`);
      return field(f.response(changed(evil(f), '</saml:Issuer>', `</saml:Issuer>${inside}`)));
    },
  },
  {
    name: 'SA-10 XSW7: another assertion with the same ID in Extensions',
    words: /2 assertions/,
    make: (f) =>
      field(
        f.response(f.sign(f.assertion()), {
          extensions: `<samlp:Extensions>${evil(f, '_a1')}</samlp:Extensions>`,
        }),
      ),
  },
  {
    name: 'SA-10 XSW7: the signed assertion in Extensions, another in its place',
    words: /2 assertions/,
    make: (f) =>
      field(f.response(evil(f), { extensions: `<samlp:Extensions>${f.sign(f.assertion())}</samlp:Extensions>` })),
  },
  {
    name: 'SA-11 XSW8: another assertion carries the signature, the original in its Object',
    words: /2 assertions/,
    make: (f) => {
      const { signature, rest } = partSignature(f.sign(f.assertion()));
      const inside = changed(signature, '</ds:Signature>', `<ds:Object>${rest}</ds:Object></ds:Signature>`);
      return field(f.response(changed(evil(f), '</saml:Issuer>', `</saml:Issuer>${inside}`)));
    },
  },
  {
    name: 'SA-11 an Object in the signature, with nothing of SAML in it',
    words: /parts than a signature has/,
    make: (f) =>
      field(
        changed(f.response(f.sign(f.assertion())), '</ds:Signature>', '<ds:Object>more</ds:Object></ds:Signature>'),
      ),
  },
];

/** Signatures that are not there, not theirs, or of a kind that is not allowed. */
const signatures: Forgery[] = [
  { name: 'SA-01 nothing is signed', words: /Assertion is not signed/, make: (f) => field(f.response(f.assertion())) },
  {
    name: 'SA-02 the response is signed, the assertion is not',
    words: /Assertion is not signed/,
    make: (f) => field(signedResponse(f, f.assertion())),
  },
  {
    name: 'SA-02 the signature of the assertion is cut out of a response that is signed',
    words: /Assertion is not signed/,
    make: (f) => field(signedResponse(f, partSignature(f.sign(f.assertion())).rest)),
  },
  {
    name: 'SA-02 the response carries a signature that is not true, the assertion a true one',
    words: /not verified/,
    make: (f) =>
      field(changed(signedResponse(f, f.sign(f.assertion())), ' IssueInstant', ' Consent="urn:x" IssueInstant')),
  },
  {
    name: 'SA-12 two elements with one ID',
    words: /twice/,
    make: (f) =>
      field(
        f.response(f.sign(f.assertion()), {
          extensions: '<samlp:Extensions><x xmlns="urn:x" Id="_a1"/></samlp:Extensions>',
        }),
      ),
  },
  {
    name: 'SA-12 two signatures in the assertion',
    words: /two signatures/,
    make: (f) => {
      const signed = f.sign(f.assertion());
      const { signature } = partSignature(signed);
      return field(f.response(changed(signed, '</ds:Signature>', `</ds:Signature>${signature}`)));
    },
  },
  {
    name: 'SA-12 two SignedInfo',
    words: /parts than a signature has/,
    make: (f) => {
      const signed = f.sign(f.assertion());
      const [info = ''] = /<ds:SignedInfo>.*<\/ds:SignedInfo>/s.exec(signed) ?? [];
      return field(f.response(changed(signed, info, info + info)));
    },
  },
  {
    name: 'SA-12 a SignedInfo of the forger hides in KeyInfo',
    words: /SignedInfo is where none belongs/,
    make: (f) =>
      field(f.response(f.sign(f.assertion(), '_a1', { keyInfo: '<ds:KeyName>k</ds:KeyName><ds:SignedInfo/>' }))),
  },
  {
    name: 'SA-12 two references',
    words: /exactly one reference/,
    make: (f) => {
      const signed = f.sign(f.assertion());
      const [reference = ''] = /<ds:Reference .*<\/ds:Reference>/s.exec(signed) ?? [];
      return field(f.response(changed(signed, reference, reference + reference)));
    },
  },
  {
    name: 'SA-12 a comment in DigestValue',
    words: /comment/,
    make: (f) => field(changed(f.response(f.sign(f.assertion())), '<ds:DigestValue>', '<ds:DigestValue><!-- x -->')),
  },
  {
    name: 'SA-13 no transforms',
    words: /parts in its reference|transforms/,
    make: (f) =>
      field(changed(f.response(f.sign(f.assertion())), /<ds:Transforms>.*<\/ds:Transforms>/s, '<ds:Transforms/>')),
  },
  {
    name: 'SA-13 a transform by XSLT',
    words: /transforms/,
    make: (f) =>
      field(changed(f.response(f.sign(f.assertion())), enveloped, 'http://www.w3.org/TR/1999/REC-xslt-19991116')),
  },
  {
    name: 'SA-13 a transform by XPath',
    words: /transforms/,
    make: (f) =>
      field(changed(f.response(f.sign(f.assertion())), enveloped, 'http://www.w3.org/TR/1999/REC-xpath-19991116')),
  },
  {
    name: 'SA-13 canonicalized with comments',
    words: /canonicalized by/,
    make: (f) => field(f.response(f.sign(f.assertion(), '_a1', { canonicalization: `${exclusive}WithComments` }))),
  },
  {
    name: 'SA-13 a transform that keeps comments',
    words: /transforms/,
    make: (f) =>
      field(f.response(f.sign(f.assertion(), '_a1', { transforms: [enveloped, `${exclusive}WithComments`] }))),
  },
  {
    name: 'SA-13 canonicalized with all that is around',
    words: /transforms/,
    make: (f) =>
      field(
        f.response(
          f.sign(f.assertion(), '_a1', { transforms: [enveloped, 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315'] }),
        ),
      ),
  },
  {
    name: 'SA-13 the signature of the assertion is over the whole document',
    words: /is over ""/,
    make: (f) => field(f.response(f.sign(f.assertion(), '_a1', { emptyUri: true }))),
  },
  {
    name: 'SA-13 the signature of the assertion is over the response',
    words: /is over "#_r1"/,
    make: (f) => {
      const { signature, rest } = partSignature(signedResponse(f, f.assertion()));
      const at = rest.indexOf('</saml:Issuer>', rest.indexOf('<saml:Assertion'));
      return field(`${rest.slice(0, at)}</saml:Issuer>${signature}${rest.slice(at + '</saml:Issuer>'.length)}`);
    },
  },
  {
    name: 'SA-14 a signature by HMAC, with the certificate for a key',
    words: /is made by/,
    make: (f) =>
      field(changed(f.response(f.sign(f.assertion())), rsaSha256, 'http://www.w3.org/2000/09/xmldsig#hmac-sha1')),
  },
  {
    name: 'SA-15 a signature by SHA-1',
    words: /is made by .*rsa-sha1/,
    make: (f) =>
      field(f.response(f.sign(f.assertion(), '_a1', { algorithm: 'http://www.w3.org/2000/09/xmldsig#rsa-sha1' }))),
  },
  {
    name: 'SA-15 a digest by SHA-1',
    words: /digest by .*sha1/,
    make: (f) => field(f.response(f.sign(f.assertion(), '_a1', { digest: 'http://www.w3.org/2000/09/xmldsig#sha1' }))),
  },
  {
    name: 'SA-15 the signature around a good one is by SHA-1',
    words: /its Response is made by/,
    make: (f) =>
      field(
        f.sign(f.response(f.sign(f.assertion())), '_r1', { algorithm: 'http://www.w3.org/2000/09/xmldsig#rsa-sha1' }),
      ),
  },
  {
    name: "SA-16 signed by the forger's key, with its certificate in KeyInfo",
    words: /not verified/,
    make: (f, { otherKey }) => field(f.response(f.sign(f.assertion(), '_a1', { key: otherKey }))),
  },
  {
    name: 'SA-16 signed by a key of the provider whose certificate has ended',
    words: /not verified/,
    make: (f, { endedKey }) => field(f.response(f.sign(f.assertion(), '_a1', { key: endedKey }))),
  },
  {
    name: 'SA-16 one letter of the NameID is changed after signing',
    words: /not verified/,
    make: (f) => field(f.response(changed(f.sign(f.assertion()), 'bob-1', 'bob-2'))),
  },
];

/** NameIDs and attributes that one reader would cut where another does not. */
const cut: Forgery[] = [
  ['a comment in the NameID', /comment/, 'admin-1<!-- -->.evil'],
  ['a processing instruction in the NameID', /processing instruction/, 'admin-1<?x y?>.evil'],
  ['CDATA in the NameID', /DOCTYPE or CDATA/, '<![CDATA[admin-1]]>.evil'],
  ['an element in the NameID', /NameID nothing cannot/, 'admin-1<x/>.evil'],
  ['a line in the NameID', /cannot be used/, 'admin-1&#10;.evil'],
  ['nothing in the NameID', /cannot be used/, ''],
  ['256 characters in the NameID', /cannot be used/, 'a'.repeat(256)],
].map(([name, words, text]) => ({
  name: `SA-17 ${name}`,
  words: words as RegExp,
  make: (f: Forger) => answer(f, { nameId: f.nameId(text as string) }),
}));
cut.push(
  {
    name: 'SA-17 a comment in an attribute',
    words: /comment/,
    make: (f) => answer(f, { attributes: f.attributes({ email: 'admin@corp-b.example<!-- -->.evil' }) }),
  },
  {
    name: 'SA-17 a comment that comes in after signing, which no signature sees',
    words: /comment/,
    make: (f) =>
      field(
        f.response(changed(f.sign(f.assertion({ nameId: f.nameId('admin-1.evil') })), 'admin-1', 'admin-1<!-- -->')),
      ),
  },
  ...(
    [
      ['an entity', /entity/, '&x;'],
      ['NUL by its number', /number of no character/, '&#0;'],
      ['half a character by its number', /number of no character/, '&#xD800;'],
    ] as const
  ).map(([name, words, text]) => ({
    name: `SA-17 ${name} in the NameID, put in after signing`,
    words,
    make: (f: Forger) => field(f.response(changed(f.sign(f.assertion()), 'bob-1', `bob-1${text}`))),
  })),
  {
    name: 'SA-17 a script of XHTML, which the parser reads by other rules',
    words: /XHTML/,
    make: (f) =>
      answer(f, { attributes: f.attributes({ x: '<script xmlns="http://www.w3.org/1999/xhtm&#108;">1</script>' }) }),
  },
  {
    name: 'SA-17 two NameIDs',
    words: /one NameID/,
    make: (f) => answer(f, { nameId: f.nameId('bob-1') + f.nameId('admin-1') }),
  },
  { name: 'SA-17 no NameID', words: /one NameID/, make: (f) => answer(f, { nameId: '' }) },
  {
    name: 'SA-17 two Subjects',
    words: /one Subject/,
    make: (f) => {
      const subject = (name: string) => `<saml:Subject>${f.nameId(name)}${f.confirmation()}</saml:Subject>`;
      return answer(f, { subject: subject('bob-1') + subject('admin-1') });
    },
  },
);

/** True signatures of the provider, on what is for somebody else, or said of another time. */
const misdirected: Forgery[] = [
  {
    name: 'SA-18 for another audience',
    words: /is for "https:\/\/other/,
    make: (f) => answer(f, { conditions: f.conditions(audience('https://other.example/')) }),
  },
  {
    name: 'SA-18 for no audience',
    words: /restriction of its audience/,
    make: (f) => answer(f, { conditions: f.conditions('') }),
  },
  {
    name: 'SA-18 for an empty restriction',
    words: /is for nobody/,
    make: (f) => answer(f, { conditions: f.conditions(audience()) }),
  },
  {
    name: 'SA-18 for us and another',
    words: /is for .*other/,
    make: (f) => answer(f, { conditions: f.conditions(audience(f.scene.audience, 'https://other.example/')) }),
  },
  {
    name: 'SA-18 for us in one restriction and for another in the next',
    words: /restriction of its audience/,
    make: (f) =>
      answer(f, { conditions: f.conditions(audience(f.scene.audience) + audience('https://other.example/')) }),
  },
  {
    name: 'SA-18 for an audience that begins as we do',
    words: /is for/,
    make: (f) => answer(f, { conditions: f.conditions(audience(`${f.scene.audience}.evil.example`)) }),
  },
  {
    name: 'SA-18 for the beginning of our name',
    words: /is for/,
    make: (f) => answer(f, { conditions: f.conditions(audience(f.scene.audience.slice(0, -1))) }),
  },
  {
    name: 'SA-18 a condition that nobody knows',
    words: /condition that we do not know/,
    make: (f) => answer(f, { conditions: f.conditions(`${audience(f.scene.audience)}<saml:Condition/>`) }),
  },
  {
    name: 'SA-19 for another recipient',
    words: /recipient "https:\/\/other/,
    make: (f) => answer(f, { confirmation: f.confirmation({ Recipient: 'https://other.example/acs' }) }),
  },
  {
    name: 'SA-19 for no recipient',
    words: /recipient nothing/,
    make: (f) => answer(f, { confirmation: f.confirmation({ Recipient: null }) }),
  },
  {
    name: 'SA-20 for another destination',
    words: /Destination is "https:\/\/other/,
    make: (f) => field(f.response(f.sign(f.assertion()), { destination: ' Destination="https://other.example/acs"' })),
  },
  {
    name: 'SA-20 for no destination',
    words: /Destination is nothing/,
    make: (f) => field(f.response(f.sign(f.assertion()), { destination: '' })),
  },
  {
    name: 'SA-20 for an empty destination',
    words: /Destination is ""/,
    make: (f) => field(f.response(f.sign(f.assertion()), { destination: ' Destination=""' })),
  },
  {
    name: 'SA-21 the response is of another issuer',
    words: /issuer of the response/,
    make: (f) =>
      field(f.response(f.sign(f.assertion()), { issuer: '<saml:Issuer>https://other.example/</saml:Issuer>' })),
  },
  {
    name: 'SA-21 the assertion is of another issuer',
    words: /issuer of the assertion/,
    make: (f) => answer(f, { issuer: '<saml:Issuer>https://other.example/</saml:Issuer>' }),
  },
  {
    name: 'SA-21 the assertion is of an issuer in another format',
    words: /named in the format/,
    make: (f) =>
      answer(f, {
        issuer: `<saml:Issuer Format="urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified">${f.scene.entityId}</saml:Issuer>`,
      }),
  },
  ...['Requester', 'Responder', 'VersionMismatch', 'success', 'AuthnFailed'].map((code) => ({
    name: `SA-22 the status is ${code}, with a signed assertion inside`,
    words: /the provider says/,
    make: (f: Forger) =>
      field(f.response(f.sign(f.assertion()), { status: status(`urn:oasis:names:tc:SAML:2.0:status:${code}`) })),
  })),
  {
    name: 'SA-22 there is no status',
    words: /one status/,
    make: (f) => field(f.response(f.sign(f.assertion()), { status: '' })),
  },
  {
    name: 'SA-22 there are two statuses',
    words: /more than one Status/,
    make: (f) => {
      const ok = status('urn:oasis:names:tc:SAML:2.0:status:Success');
      return field(f.response(f.sign(f.assertion()), { status: ok + ok }));
    },
  },
  {
    name: 'SA-23 nothing confirms the subject',
    words: /subject confirmed/,
    make: (f) => answer(f, { confirmation: '' }),
  },
  {
    name: 'SA-23 the holder of a key is confirmed, not who brings it',
    words: /confirmed by/,
    make: (f) => answer(f, { confirmation: f.confirmation({}, 'urn:oasis:names:tc:SAML:2.0:cm:holder-of-key') }),
  },
  {
    name: 'SA-23 a confirmation without data',
    words: /one set of data|not verified/,
    make: (f) =>
      answer(f, { confirmation: '<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"/>' }),
  },
  {
    name: 'SA-23 what is right is spread over two confirmations',
    words: /recipient/,
    make: (f) =>
      answer(f, {
        confirmation:
          f.confirmation({ Recipient: 'https://other.example/acs' }) + f.confirmation({ InResponseTo: '_other' }),
      }),
  },
  { name: 'SA-24 nobody signed in', words: /anybody signed in/, make: (f) => answer(f, { authn: '' }) },
  {
    name: 'SA-24 the session at the provider is over',
    words: /session at the provider ended/,
    make: (f) => answer(f, { authn: f.authn({ SessionNotOnOrAfter: f.at(-200_000) }) }),
  },
  {
    name: 'SA-24 the sign-in is in the future',
    words: /sign-in was at/,
    make: (f) => answer(f, { authn: f.authn({ AuthnInstant: f.at(200_000) }) }),
  },
  {
    name: 'SA-24 the sign-in has no time',
    words: /sign-in was at nothing/,
    make: (f) => answer(f, { authn: f.authn({ AuthnInstant: null }) }),
  },
  {
    name: 'SA-25 its conditions have ended',
    words: /the assertion ended/,
    make: (f) => answer(f, { conditions: f.conditions(undefined, { NotOnOrAfter: f.at(-120_000) }) }),
  },
  {
    name: 'SA-25 its conditions have not begun',
    words: /valid from/,
    make: (f) => answer(f, { conditions: f.conditions(undefined, { NotBefore: f.at(120_001) }) }),
  },
  {
    name: 'SA-25 its conditions have no end',
    words: /has no end|not verified/,
    make: (f) => answer(f, { conditions: f.conditions(undefined, { NotOnOrAfter: null }) }),
  },
  { name: 'SA-25 it has no conditions', words: /one Conditions/, make: (f) => answer(f, { conditions: '' }) },
  {
    name: 'SA-25 it has two sets of conditions',
    words: /one Conditions|not verified/,
    make: (f) => answer(f, { conditions: f.conditions() + f.conditions() }),
  },
  {
    name: 'SA-25 it is valid for ten years',
    words: /valid for too long/,
    make: (f) => answer(f, { conditions: f.conditions(undefined, { NotOnOrAfter: f.at(10 * 365 * 24 * 3_600_000) }) }),
  },
  {
    name: 'SA-25 it is older than we accept, valid as it says',
    words: /too old/,
    make: (f) => answer(f, { issuedAt: f.at(-720_000) }),
  },
  {
    name: 'SA-25 it was issued in the future',
    words: /in the future/,
    make: (f) => answer(f, { issuedAt: f.at(120_001) }),
  },
  {
    name: 'SA-25 it was issued at a time without a zone',
    words: /no time/,
    make: (f) => answer(f, { issuedAt: f.at(0).replace('Z', '') }),
  },
  {
    name: 'SA-25 its confirmation has ended',
    words: /confirmation of the subject ended/,
    make: (f) => answer(f, { confirmation: f.confirmation({ NotOnOrAfter: f.at(-120_000) }) }),
  },
  {
    name: 'SA-25 its confirmation has no end',
    words: /has no end|not verified/,
    make: (f) => answer(f, { confirmation: f.confirmation({ NotOnOrAfter: null }) }),
  },
  {
    name: 'SA-25 its confirmation has a beginning',
    words: /NotBefore/,
    make: (f) => answer(f, { confirmation: f.confirmation({ NotBefore: f.at(-1000) }) }),
  },
  {
    name: 'SA-26 the response answers no request',
    words: /it answers nothing/,
    make: (f) => field(f.response(f.sign(f.assertion()), { inResponseTo: '' })),
  },
  {
    name: 'SA-26 the response answers another request',
    words: /it answers "_other"/,
    make: (f) => field(f.response(f.sign(f.assertion()), { inResponseTo: ' InResponseTo="_other"' })),
  },
  {
    name: 'SA-26 the assertion answers another request',
    words: /the assertion answers "_other"/,
    make: (f) => answer(f, { confirmation: f.confirmation({ InResponseTo: '_other' }) }),
  },
  {
    name: 'SA-26 the assertion answers no request',
    words: /the assertion answers nothing/,
    make: (f) => answer(f, { confirmation: f.confirmation({ InResponseTo: null }) }),
  },
  {
    name: 'SA-40 the NameID is for one visit only',
    words: /transient/,
    make: (f) => answer(f, { nameId: f.nameId('x-1', 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient') }),
  },
  {
    name: 'SA-40 the NameID is a name that somebody else gave',
    words: /somebody else/,
    make: (f) =>
      answer(f, {
        nameId: changed(f.nameId('bob-1'), '<saml:NameID', '<saml:NameID NameQualifier="https://other.example/"'),
      }),
  },
  {
    name: 'SA-40 the NameID is a name for somebody else',
    words: /somebody else/,
    make: (f) =>
      answer(f, {
        nameId: changed(f.nameId('bob-1'), '<saml:NameID', '<saml:NameID SPNameQualifier="https://other.example/"'),
      }),
  },
];

/** What is no SAML response at all. */
const others: Forgery[] = [
  ...['LogoutResponse', 'AuthnRequest', 'LogoutRequest', 'ArtifactResponse'].map((name) => ({
    name: `SA-36 a ${name}, signed`,
    words: /no SAML response but/,
    make: (f: Forger) => field(f.sign(f.response('', { name: `samlp:${name}` }), '_r1')),
  })),
  {
    name: 'SA-36 a response of another namespace',
    words: /no SAML response but/,
    make: (f) =>
      field(
        changed(
          f.response(f.sign(f.assertion())),
          'xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol"',
          'xmlns:samlp="urn:else"',
        ),
      ),
  },
  {
    name: 'SA-36 a response of SAML 1.1',
    words: /SAML 2.0/,
    make: (f) => field(f.response(f.sign(f.assertion()), { version: '1.1' })),
  },
];

/** Bytes that two readers could read as two documents. */
const bytes: Forgery[] = [
  {
    name: 'SA-34 two roots',
    words: /more than one root/,
    make: (f) => field(`${f.response(f.sign(f.assertion()))}<x/>`),
  },
  {
    name: 'SA-34 text behind the root',
    words: /text outside/,
    make: (f) => field(`${f.response(f.sign(f.assertion()))}x`),
  },
  {
    name: 'SA-34 text before the root',
    words: /text outside/,
    make: (f) => field(`x${f.response(f.sign(f.assertion()))}`),
  },
  {
    name: 'SA-34 a byte order mark',
    words: /text outside/,
    make: (f) => field(`\uFEFF${f.response(f.sign(f.assertion()))}`),
  },
  {
    name: 'SA-34 UTF-16',
    words: /UTF-8|characters that XML/,
    make: (f) => Buffer.from(`\uFEFF${f.response(f.sign(f.assertion()))}`, 'utf16le').toString('base64'),
  },
  {
    name: 'SA-34 declared as UTF-7',
    words: /not declared as UTF-8/,
    make: (f) => field(`<?xml version="1.0" encoding="UTF-7"?>${f.response(f.sign(f.assertion()))}`),
  },
  {
    name: 'SA-34 declared as XML 1.1',
    words: /not declared as UTF-8/,
    make: (f) => field(`<?xml version="1.1" encoding="UTF-8"?>${f.response(f.sign(f.assertion()))}`),
  },
  {
    name: 'SA-34 bytes that are not UTF-8',
    words: /not UTF-8/,
    make: (f) =>
      Buffer.from(f.response(f.sign(f.assertion())).replace('bob-1', 'b\u00e4b'), 'latin1').toString('base64'),
  },
  {
    name: 'SA-34 base64 with something else in it',
    words: /not base64/,
    make: (f) => `${field(f.response(f.sign(f.assertion())))}!`,
  },
  {
    name: 'SA-34 base64 for addresses',
    words: /not base64/,
    make: (f) => `_${field(f.response(f.sign(f.assertion()))).slice(1)}-A`,
  },
  { name: 'SA-34 nothing', words: /not base64/, make: () => '' },
  {
    name: 'SA-34 tags that do not match',
    words: /do not match/,
    make: (f) => field(changed(f.response(f.sign(f.assertion())), '</saml:Subject>', '</saml:Subject></saml:Old>')),
  },
  {
    name: 'SA-34 an attribute twice',
    words: /not well-formed/,
    make: (f) => field(changed(f.response(f.sign(f.assertion())), 'Version="2.0"', 'Version="2.0" Version="2.0"')),
  },
];

/** Assertions that come encrypted. */
const sealed: Forgery[] = [
  {
    name: 'SA-35 encrypted, not signed',
    words: /Assertion is not signed/,
    make: async (f, { portalCertificate }) => field(f.response(await encrypted(f.assertion(), portalCertificate))),
  },
  {
    name: 'SA-35 encrypted, not signed, in a signed response',
    words: /Assertion is not signed/,
    make: async (f, { portalCertificate }) =>
      field(signedResponse(f, await encrypted(f.assertion(), portalCertificate))),
  },
  {
    name: "SA-35 encrypted, signed by the forger's key",
    words: /not verified/,
    make: async (f, { portalCertificate, otherKey }) =>
      field(f.response(await encrypted(f.sign(f.assertion(), '_a1', { key: otherKey }), portalCertificate))),
  },
  {
    name: 'SA-35 encrypted for somebody else',
    words: /no key of the portal/,
    make: async (f, { otherKey }) => field(f.response(await encrypted(f.sign(f.assertion()), otherKey.certificate))),
  },
  {
    name: 'SA-35 its key is sealed by rsa-1_5',
    words: /sealed by .*rsa-1_5/,
    make: async (f, { portalCertificate }) =>
      field(
        signedResponse(
          f,
          await encrypted(f.sign(f.assertion()), portalCertificate, {
            transport: 'http://www.w3.org/2001/04/xmlenc#rsa-1_5',
          }),
        ),
      ),
  },
  {
    name: 'SA-35 encrypted by Triple DES',
    words: /encrypted by .*tripledes/,
    make: async (f, { portalCertificate }) =>
      field(
        signedResponse(
          f,
          await encrypted(f.sign(f.assertion()), portalCertificate, {
            content: 'http://www.w3.org/2001/04/xmlenc#tripledes-cbc',
          }),
        ),
      ),
  },
  {
    name: 'SA-35 encrypted by AES-CBC in a response that is not signed',
    words: /AES-CBC, which takes a signed response/,
    make: async (f, { portalCertificate }) => field(f.response(await byCbc(f, portalCertificate))),
  },
  ...[0, 7, 15].map((place) => ({
    name: `SA-35 encrypted by AES-CBC in a signed response, byte ${place} changed after`,
    words: /AES-CBC, which takes a signed response/,
    make: async (f: Forger, { portalCertificate }: ForgeryTools) =>
      field(tampered(signedResponse(f, await byCbc(f, portalCertificate)), place)),
  })),
  {
    name: 'SA-35 encrypted by AES-GCM, a byte changed after',
    words: /no key of the portal/,
    make: async (f, { portalCertificate }) =>
      field(tampered(f.response(await encrypted(f.sign(f.assertion()), portalCertificate)), 40)),
  },
  {
    name: 'SA-35 encrypted by AES-GCM, said to be by AES-CBC',
    words: /AES-CBC, which takes a signed response/,
    make: async (f, { portalCertificate }) =>
      field(
        changed(
          f.response(await encrypted(f.sign(f.assertion()), portalCertificate)),
          'http://www.w3.org/2009/xmlenc11#aes256-gcm',
          'http://www.w3.org/2001/04/xmlenc#aes256-cbc',
        ),
      ),
  },
  {
    name: 'SA-35 another one encrypted beside the signed one',
    words: /2 assertions/,
    make: async (f, { portalCertificate }) =>
      field(f.response(f.sign(f.assertion()) + (await encrypted(evil(f), portalCertificate)))),
  },
  {
    name: 'SA-35 a wrapped assertion, encrypted',
    words: /more than one assertion/,
    make: async (f, { portalCertificate }) => {
      const inside = f.assertion({ id: '_evil', nameId: evilName(f), end: f.sign(f.assertion()) });
      return field(f.response(await encrypted(inside, portalCertificate)));
    },
  },
  {
    name: 'SA-35 a comment in what was encrypted',
    words: /cannot be read: it holds a comment/,
    make: async (f, { portalCertificate }) => {
      const signed = f.sign(f.assertion({ nameId: f.nameId('admin-1.evil') }));
      return field(f.response(await encrypted(changed(signed, 'admin-1', 'admin-1<!-- -->'), portalCertificate)));
    },
  },
  {
    name: 'SA-35 signed by SHA-1, then encrypted',
    words: /is made by .*rsa-sha1/,
    make: async (f, { portalCertificate }) => {
      const algorithm = 'http://www.w3.org/2000/09/xmldsig#rsa-sha1';
      return field(f.response(await encrypted(f.sign(f.assertion(), '_a1', { algorithm }), portalCertificate)));
    },
  },
  {
    name: 'SA-35 a DOCTYPE in what was encrypted',
    words: /DOCTYPE/,
    make: async (f, { portalCertificate }) =>
      field(f.response(await encrypted(`<!DOCTYPE x>${f.sign(f.assertion())}`, portalCertificate))),
  },
  {
    name: 'SA-35 two keys',
    words: /one piece of data and one key/,
    make: async (f, { portalCertificate }) => {
      const xml = f.response(await encrypted(f.sign(f.assertion()), portalCertificate));
      const [key = ''] = /<e:EncryptedKey.*<\/e:EncryptedKey>/s.exec(xml) ?? [];
      return field(changed(xml, key, key + key));
    },
  },
];

/** Every forgery that is refused whatever the connection is set to. */
export const forgeries: Forgery[] = [...[wrapped, signatures, cut, misdirected, others, bytes, sealed].flat()];

/** An assertion that is signed and then encrypted by AES-CBC. */
export async function byCbc(f: Forger, certificate: string): Promise<string> {
  return await encrypted(f.sign(f.assertion()), certificate, {
    content: 'http://www.w3.org/2001/04/xmlenc#aes256-cbc',
  });
}

/** Changes one byte of what is encrypted. */
function tampered(xml: string, place: number): string {
  const at = xml.lastIndexOf('<e:CipherValue>') + '<e:CipherValue>'.length;
  const end = xml.indexOf('<', at);
  const data = Buffer.from(xml.slice(at, end), 'base64');
  data[place] = (data[place] ?? 0) ^ 1;
  return xml.slice(0, at) + data.toString('base64') + xml.slice(end);
}
