import { audience, type Forger } from '../forged-saml.ts';
import { answer, changed, type Forgery, forged, status } from './forgery.ts';

type Parts = NonNullable<Parameters<Forger['assertion']>[0]>;
type Row = [name: string, words: RegExp, parts: (f: Forger) => Parts, response?: Parameters<Forger['response']>[1]];

const other = 'https://other.example/';
const forAudiences = (f: Forger, ...names: string[]): Parts => ({ conditions: f.conditions(audience(...names)) });
const conditioned = (f: Forger, times: Record<string, string | null>): Parts => ({
  conditions: f.conditions(undefined, times),
});
const confirmed = (f: Forger, data: Record<string, string | null>): Parts => ({ confirmation: f.confirmation(data) });
const named = (f: Forger, more: string): Parts => ({
  nameId: changed(f.nameId('bob-1'), '<saml:NameID', `<saml:NameID ${more}`),
});
const issued = (by: string, format = ''): Parts => ({ issuer: `<saml:Issuer${format}>${by}</saml:Issuer>` });
const unspecified = ' Format="urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified"';
const success = status('urn:oasis:names:tc:SAML:2.0:status:Success');
const tenYears = 10 * 365 * 24 * 3_600_000;
const nothing = () => ({});

const rows: Row[] = [
  ['SA-18 for another audience', /is for "https:\/\/other/, (f) => forAudiences(f, other)],
  ['SA-18 for no audience', /restriction of its audience/, (f) => ({ conditions: f.conditions('') })],
  ['SA-18 for an empty restriction', /is for nobody/, (f) => forAudiences(f)],
  ['SA-18 for us and another', /is for .*other/, (f) => forAudiences(f, f.scene.audience, other)],
  [
    'SA-18 for us in one restriction and for another in the next',
    /restriction of its audience/,
    (f) => ({ conditions: f.conditions(audience(f.scene.audience) + audience(other)) }),
  ],
  ['SA-18 for one that begins as we do', /is for/, (f) => forAudiences(f, `${f.scene.audience}.evil.example`)],
  ['SA-18 for the beginning of our name', /is for/, (f) => forAudiences(f, f.scene.audience.slice(0, -1))],
  [
    'SA-18 a condition that nobody knows',
    /unknown condition/,
    (f) => ({ conditions: f.conditions(`${audience(f.scene.audience)}<saml:Condition/>`) }),
  ],
  ['SA-19 for another recipient', /recipient "https:\/\/other/, (f) => confirmed(f, { Recipient: other })],
  ['SA-19 for no recipient', /recipient nothing/, (f) => confirmed(f, { Recipient: null })],
  ['SA-20 another destination', /Destination is "https:/, nothing, { destination: ` Destination="${other}"` }],
  ['SA-20 no destination', /Destination is nothing/, nothing, { destination: '' }],
  ['SA-20 an empty destination', /Destination is ""/, nothing, { destination: ' Destination=""' }],
  ['SA-21 another issuer of the response', /issuer of the response/, nothing, issued(other)],
  ['SA-21 another issuer of the assertion', /issuer of the assertion/, () => issued(other)],
  ['SA-21 an issuer in another format', /named in the format/, (f) => issued(f.scene.entityId, unspecified)],
  ...['Requester', 'Responder', 'VersionMismatch', 'success', 'AuthnFailed'].map((code): Row => {
    const state = status(`urn:oasis:names:tc:SAML:2.0:status:${code}`);
    return [`SA-22 ${code}, with a signed assertion inside`, /the provider says/, nothing, { status: state }];
  }),
  ['SA-22 no status', /one status/, nothing, { status: '' }],
  ['SA-22 two statuses', /one status/, nothing, { status: success + success }],
  ['SA-23 nothing confirms the subject', /subject confirmed/, () => ({ confirmation: '' })],
  [
    'SA-23 the holder of a key is confirmed, not who brings it',
    /confirmed by/,
    (f) => ({ confirmation: f.confirmation({}, 'urn:oasis:names:tc:SAML:2.0:cm:holder-of-key') }),
  ],
  [
    'SA-23 a confirmation without data',
    /one set of data/,
    () => ({ confirmation: '<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"/>' }),
  ],
  [
    'SA-23 what is right is spread over two confirmations',
    /recipient/,
    (f) => ({ confirmation: f.confirmation({ Recipient: other }) + f.confirmation({ InResponseTo: '_other' }) }),
  ],
  ['SA-24 nobody signed in', /anyone signed in/, () => ({ authn: '' })],
  [
    'SA-24 the session at the provider is over',
    /session at the provider ended/,
    (f) => ({ authn: f.authn({ SessionNotOnOrAfter: f.at(-200_000) }) }),
  ],
  ['SA-24 a sign-in in the future', /sign-in was at/, (f) => ({ authn: f.authn({ AuthnInstant: f.at(200_000) }) })],
  ['SA-24 a sign-in without a time', /sign-in was at nothing/, (f) => ({ authn: f.authn({ AuthnInstant: null }) })],
  ['SA-25 its conditions have ended', /the assertion ended/, (f) => conditioned(f, { NotOnOrAfter: f.at(-120_000) })],
  ['SA-25 its conditions have not begun', /valid from/, (f) => conditioned(f, { NotBefore: f.at(120_001) })],
  ['SA-25 its conditions have no end', /has no end/, (f) => conditioned(f, { NotOnOrAfter: null })],
  ['SA-25 it has no conditions', /one Conditions/, () => ({ conditions: '' })],
  ['SA-25 two sets of conditions', /one Conditions/, (f) => ({ conditions: f.conditions() + f.conditions() })],
  ['SA-25 it is older than we accept, valid as it says', /too old/, (f) => ({ issuedAt: f.at(-720_000) })],
  [
    'SA-25 it is older than we accept, valid for ten years as it says',
    /too old/,
    (f) => {
      const late = { NotOnOrAfter: f.at(tenYears) };
      return { issuedAt: f.at(-720_000), ...confirmed(f, late), ...conditioned(f, late) };
    },
  ],
  ['SA-25 it was issued in the future', /in the future/, (f) => ({ issuedAt: f.at(120_001) })],
  ['SA-25 it was issued at a time without a zone', /not a time/, (f) => ({ issuedAt: f.at(0).replace('Z', '') })],
  ['SA-25 its confirmation has ended', /subject ended/, (f) => confirmed(f, { NotOnOrAfter: f.at(-120_000) })],
  ['SA-25 its confirmation has no end', /has no end/, (f) => confirmed(f, { NotOnOrAfter: null })],
  ['SA-25 its confirmation has a beginning', /NotBefore/, (f) => confirmed(f, { NotBefore: f.at(-1000) })],
  ['SA-26 the response answers no request', /it answers nothing/, nothing, { inResponseTo: '' }],
  ['SA-26 it answers another request', /it answers "_other"/, nothing, { inResponseTo: ' InResponseTo="_other"' }],
  [
    'SA-26 the assertion answers another',
    /assertion answers "_other"/,
    (f) => confirmed(f, { InResponseTo: '_other' }),
  ],
  ['SA-26 the assertion answers none', /assertion answers nothing/, (f) => confirmed(f, { InResponseTo: null })],
  [
    'SA-40 the NameID is for one visit only',
    /transient/,
    (f) => ({ nameId: f.nameId('x-1', 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient') }),
  ],
  ['SA-40 a name that somebody else gave', /another party/, (f) => named(f, `NameQualifier="${other}"`)],
  ['SA-40 a name for somebody else', /another party/, (f) => named(f, `SPNameQualifier="${other}"`)],
];

/** The provider's valid signatures, on answers for somebody else or another time. */
export const misdirectedAnswers: Forgery[] = rows.map(([name, words, parts, response]) =>
  forged(name, words, (f) => answer(f, parts(f), response)),
);
