import { randomUUID } from 'node:crypto';
import { SignedXml } from 'xml-crypto';
import { html } from '../html.ts';
import { anHourAgo, type Behaviour } from './provider-pages.ts';

/** What an answer says, and who signs it. */
type SamlStatement = {
  privateKey: string;
  certificate: string;
  entityId: string;
  /** Where the answer is posted, and for whom it is meant. */
  acs: string;
  audience: string;
  email: string;
  attributes: Record<string, readonly string[]>;
  /** Null if the provider began. */
  requestId: string | null;
  now: Date;
  behaviour: Behaviour;
};

/** What an answer about nobody holds as well. */
type Unspecific = Omit<SamlStatement, 'email' | 'attributes' | 'behaviour'>;

const namespaces = {
  markup: 'xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol"',
};
const classes = 'urn:oasis:names:tc:SAML:2.0:ac:classes:Password';
const persistent = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent';
const bearer = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';
const status = 'urn:oasis:names:tc:SAML:2.0:status:';

/** A response with one signed assertion (SAML core §3.3.3), right or with the given fault. */
export function signedResponse(statement: SamlStatement): string {
  const { entityId, acs, email, requestId, behaviour } = statement;
  const start = statement.now.getTime() + (behaviour === 'expired' ? anHourAgo : 0);
  const at = (offset: number) => new Date(start + offset).toISOString();
  const audience = behaviour === 'audience' ? 'https://another-application.example' : statement.audience;
  const inResponseTo = requestId !== null && html` InResponseTo="${requestId}"`;
  const id = `_${randomUUID()}`;
  const attributes = Object.entries(statement.attributes).map(
    ([name, values]) =>
      html`<saml:Attribute Name="${name}">${values.map((value) => html`<saml:AttributeValue>${value}</saml:AttributeValue>`)}</saml:Attribute>`,
  );
  const assertion = html`<saml:Assertion ${namespaces} ID="${id}" Version="2.0" IssueInstant="${at(0)}"><saml:Issuer>${entityId}</saml:Issuer><saml:Subject><saml:NameID Format="${persistent}">id-of-${email}</saml:NameID><saml:SubjectConfirmation Method="${bearer}"><saml:SubjectConfirmationData Recipient="${acs}" NotOnOrAfter="${at(300_000)}"${inResponseTo}/></saml:SubjectConfirmation></saml:Subject><saml:Conditions NotBefore="${at(-60_000)}" NotOnOrAfter="${at(300_000)}"><saml:AudienceRestriction><saml:Audience>${audience}</saml:Audience></saml:AudienceRestriction></saml:Conditions><saml:AuthnStatement AuthnInstant="${at(-1000)}" SessionIndex="_${randomUUID()}"><saml:AuthnContext><saml:AuthnContextClassRef>${classes}</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement><saml:AttributeStatement>${attributes}</saml:AttributeStatement></saml:Assertion>`;
  return response(statement, `${status}Success`, { markup: sign(assertion.markup, id, statement) });
}

/** A response that says why there is nobody (SAML core §3.2.2.2). */
export function refusal(statement: Unspecific): string {
  return response(statement, `${status}Responder`, null);
}

function response(
  { entityId, acs, requestId, now }: Unspecific,
  code: string,
  inside: { markup: string } | null,
): string {
  const inResponseTo = requestId !== null && html` InResponseTo="${requestId}"`;
  const reason = !inside && html`<samlp:StatusCode Value="${status}AuthnFailed"/>`;
  return html`<samlp:Response ${namespaces} ID="_${randomUUID()}" Version="2.0" IssueInstant="${now.toISOString()}" Destination="${acs}"${inResponseTo}><saml:Issuer>${entityId}</saml:Issuer><samlp:Status><samlp:StatusCode Value="${code}">${reason}</samlp:StatusCode></samlp:Status>${inside}</samlp:Response>`
    .markup;
}

function sign(xml: string, id: string, { privateKey, certificate }: SamlStatement): string {
  const signature = new SignedXml({
    privateKey,
    publicCert: certificate,
    signatureAlgorithm: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
    canonicalizationAlgorithm: 'http://www.w3.org/2001/10/xml-exc-c14n#',
  });
  signature.addReference({
    xpath: `//*[@ID='${id}']`,
    transforms: ['http://www.w3.org/2000/09/xmldsig#enveloped-signature', 'http://www.w3.org/2001/10/xml-exc-c14n#'],
    digestAlgorithm: 'http://www.w3.org/2001/04/xmlenc#sha256',
  });
  const reference = `//*[@ID='${id}']/*[local-name(.)='Issuer']`;
  signature.computeSignature(xml, { prefix: 'ds', location: { reference, action: 'after' } });
  return signature.getSignedXml();
}
