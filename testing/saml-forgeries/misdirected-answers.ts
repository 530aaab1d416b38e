import { audience, type Forger } from '../forged-saml.ts';
import { answer, changed, type Forgery, forged, status } from './forgery.ts';

/** The provider's valid signatures, on answers for somebody else or another time. */
export const misdirectedAnswers: Forgery[] = [
  forged('SA-18 for another audience', /is for "https:\/\/other/, (f) =>
    answer(f, { conditions: f.conditions(audience('https://other.example/')) }),
  ),
  forged('SA-18 for no audience', /restriction of its audience/, (f) => answer(f, { conditions: f.conditions('') })),
  forged('SA-18 for an empty restriction', /is for nobody/, (f) => answer(f, { conditions: f.conditions(audience()) })),
  forged('SA-18 for us and another', /is for .*other/, (f) =>
    answer(f, { conditions: f.conditions(audience(f.scene.audience, 'https://other.example/')) }),
  ),
  forged('SA-18 for us in one restriction and for another in the next', /restriction of its audience/, (f) =>
    answer(f, { conditions: f.conditions(audience(f.scene.audience) + audience('https://other.example/')) }),
  ),
  forged('SA-18 for an audience that begins as we do', /is for/, (f) =>
    answer(f, { conditions: f.conditions(audience(`${f.scene.audience}.evil.example`)) }),
  ),
  forged('SA-18 for the beginning of our name', /is for/, (f) =>
    answer(f, { conditions: f.conditions(audience(f.scene.audience.slice(0, -1))) }),
  ),
  forged('SA-18 a condition that nobody knows', /unknown condition/, (f) =>
    answer(f, { conditions: f.conditions(`${audience(f.scene.audience)}<saml:Condition/>`) }),
  ),
  forged('SA-19 for another recipient', /recipient "https:\/\/other/, (f) =>
    answer(f, { confirmation: f.confirmation({ Recipient: 'https://other.example/acs' }) }),
  ),
  forged('SA-19 for no recipient', /recipient nothing/, (f) =>
    answer(f, { confirmation: f.confirmation({ Recipient: null }) }),
  ),
  forged('SA-20 for another destination', /Destination is "https:\/\/other/, (f) =>
    answer(f, {}, { destination: ' Destination="https://other.example/acs"' }),
  ),
  forged('SA-20 for no destination', /Destination is nothing/, (f) => answer(f, {}, { destination: '' })),
  forged('SA-20 for an empty destination', /Destination is ""/, (f) =>
    answer(f, {}, { destination: ' Destination=""' }),
  ),
  forged('SA-21 the response is of another issuer', /issuer of the response/, (f) =>
    answer(f, {}, { issuer: '<saml:Issuer>https://other.example/</saml:Issuer>' }),
  ),
  forged('SA-21 the assertion is of another issuer', /issuer of the assertion/, (f) =>
    answer(f, { issuer: '<saml:Issuer>https://other.example/</saml:Issuer>' }),
  ),
  forged('SA-21 the assertion is of an issuer in another format', /named in the format/, (f) =>
    answer(f, {
      issuer: `<saml:Issuer Format="urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified">${f.scene.entityId}</saml:Issuer>`,
    }),
  ),
  ...['Requester', 'Responder', 'VersionMismatch', 'success', 'AuthnFailed'].map((code) =>
    forged(`SA-22 the status is ${code}, with a signed assertion inside`, /the provider says/, (f: Forger) =>
      answer(f, {}, { status: status(`urn:oasis:names:tc:SAML:2.0:status:${code}`) }),
    ),
  ),
  forged('SA-22 there is no status', /one status/, (f) => answer(f, {}, { status: '' })),
  forged('SA-22 there are two statuses', /one status/, (f) => {
    const ok = status('urn:oasis:names:tc:SAML:2.0:status:Success');
    return answer(f, {}, { status: ok + ok });
  }),
  forged('SA-23 nothing confirms the subject', /subject confirmed/, (f) => answer(f, { confirmation: '' })),
  forged('SA-23 the holder of a key is confirmed, not who brings it', /confirmed by/, (f) =>
    answer(f, { confirmation: f.confirmation({}, 'urn:oasis:names:tc:SAML:2.0:cm:holder-of-key') }),
  ),
  forged('SA-23 a confirmation without data', /one set of data|not verified/, (f) =>
    answer(f, { confirmation: '<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"/>' }),
  ),
  forged('SA-23 what is right is spread over two confirmations', /recipient/, (f) =>
    answer(f, {
      confirmation:
        f.confirmation({ Recipient: 'https://other.example/acs' }) + f.confirmation({ InResponseTo: '_other' }),
    }),
  ),
  forged('SA-24 nobody signed in', /anyone signed in/, (f) => answer(f, { authn: '' })),
  forged('SA-24 the session at the provider is over', /session at the provider ended/, (f) =>
    answer(f, { authn: f.authn({ SessionNotOnOrAfter: f.at(-200_000) }) }),
  ),
  forged('SA-24 the sign-in is in the future', /sign-in was at/, (f) =>
    answer(f, { authn: f.authn({ AuthnInstant: f.at(200_000) }) }),
  ),
  forged('SA-24 the sign-in has no time', /sign-in was at nothing/, (f) =>
    answer(f, { authn: f.authn({ AuthnInstant: null }) }),
  ),
  forged('SA-25 its conditions have ended', /the assertion ended/, (f) =>
    answer(f, { conditions: f.conditions(undefined, { NotOnOrAfter: f.at(-120_000) }) }),
  ),
  forged('SA-25 its conditions have not begun', /valid from/, (f) =>
    answer(f, { conditions: f.conditions(undefined, { NotBefore: f.at(120_001) }) }),
  ),
  forged('SA-25 its conditions have no end', /has no end|not verified/, (f) =>
    answer(f, { conditions: f.conditions(undefined, { NotOnOrAfter: null }) }),
  ),
  forged('SA-25 it has no conditions', /one Conditions/, (f) => answer(f, { conditions: '' })),
  forged('SA-25 it has two sets of conditions', /one Conditions|not verified/, (f) =>
    answer(f, { conditions: f.conditions() + f.conditions() }),
  ),
  forged('SA-25 it is older than we accept, valid as it says', /too old/, (f) =>
    answer(f, { issuedAt: f.at(-720_000) }),
  ),
  forged('SA-25 it is older than we accept, valid for ten years as it says', /too old/, (f) =>
    answer(f, {
      issuedAt: f.at(-720_000),
      confirmation: f.confirmation({ NotOnOrAfter: f.at(10 * 365 * 24 * 3_600_000) }),
      conditions: f.conditions(undefined, { NotOnOrAfter: f.at(10 * 365 * 24 * 3_600_000) }),
    }),
  ),
  forged('SA-25 it was issued in the future', /in the future/, (f) => answer(f, { issuedAt: f.at(120_001) })),
  forged('SA-25 it was issued at a time without a zone', /not a time/, (f) =>
    answer(f, { issuedAt: f.at(0).replace('Z', '') }),
  ),
  forged('SA-25 its confirmation has ended', /confirmation of the subject ended/, (f) =>
    answer(f, { confirmation: f.confirmation({ NotOnOrAfter: f.at(-120_000) }) }),
  ),
  forged('SA-25 its confirmation has no end', /has no end|not verified/, (f) =>
    answer(f, { confirmation: f.confirmation({ NotOnOrAfter: null }) }),
  ),
  forged('SA-25 its confirmation has a beginning', /NotBefore/, (f) =>
    answer(f, { confirmation: f.confirmation({ NotBefore: f.at(-1000) }) }),
  ),
  forged('SA-26 the response answers no request', /it answers nothing/, (f) => answer(f, {}, { inResponseTo: '' })),
  forged('SA-26 the response answers another request', /it answers "_other"/, (f) =>
    answer(f, {}, { inResponseTo: ' InResponseTo="_other"' }),
  ),
  forged('SA-26 the assertion answers another request', /the assertion answers "_other"/, (f) =>
    answer(f, { confirmation: f.confirmation({ InResponseTo: '_other' }) }),
  ),
  forged('SA-26 the assertion answers no request', /the assertion answers nothing/, (f) =>
    answer(f, { confirmation: f.confirmation({ InResponseTo: null }) }),
  ),
  forged('SA-40 the NameID is for one visit only', /transient/, (f) =>
    answer(f, { nameId: f.nameId('x-1', 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient') }),
  ),
  forged('SA-40 the NameID is a name that somebody else gave', /another party/, (f) =>
    answer(f, {
      nameId: changed(f.nameId('bob-1'), '<saml:NameID', '<saml:NameID NameQualifier="https://other.example/"'),
    }),
  ),
  forged('SA-40 the NameID is a name for somebody else', /another party/, (f) =>
    answer(f, {
      nameId: changed(f.nameId('bob-1'), '<saml:NameID', '<saml:NameID SPNameQualifier="https://other.example/"'),
    }),
  ),
];
