import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { SignedXml } from 'xml-crypto';
import { addAlgorithms } from './xml-signature-algorithms.ts';

type Encrypt = (content: string, options: object, done: (error: Error | null, result: string) => void) => void;

const { encrypt } = createRequire(import.meta.url)('xml-encryption') as { encrypt: Encrypt };

/** The signer: both in PEM. */
export type ForgerKey = { certificate: string; privateKey: string };

/** The contents of a genuine answer; times in ISO form. */
type ForgerScene = {
  key: ForgerKey;
  now: Date;
  entityId: string;
  acs: string;
  audience: string;
  /** Null if the provider started. */
  requestId: string | null;
};

/** XML parts of an assertion that replace the genuine ones; '' omits one. */
export type AssertionParts = Partial<
  Record<'issuer' | 'nameId' | 'confirmation' | 'subject' | 'conditions' | 'authn' | 'attributes' | 'end', string>
> & { id?: string; issuedAt?: string };

/** Attributes and parts of a response that replace the genuine ones; '' omits one. */
type ResponseParts = Partial<
  Record<'destination' | 'inResponseTo' | 'issuer' | 'status' | 'extensions' | 'name' | 'version' | 'id', string>
>;

export type SigningOptions = {
  key?: ForgerKey;
  algorithm?: string;
  digest?: string;
  canonicalization?: string;
  transforms?: string[];
  /** Replaces the ID of the element. */
  emptyUri?: boolean;
  keyInfo?: string;
};

export const rsaSha256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';
export const sha256 = 'http://www.w3.org/2001/04/xmlenc#sha256';
export const exclusive = 'http://www.w3.org/2001/10/xml-exc-c14n#';
export const enveloped = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature';
const status = 'urn:oasis:names:tc:SAML:2.0:status:';
const namespaces =
  'xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol"';

const minutes = (count: number) => count * 60_000;

/** Builds messages by hand, genuine or not, with signatures valid for the given key. */
export function forger(scene: ForgerScene) {
  const at = (offset: number) => new Date(scene.now.getTime() + offset).toISOString();
  const inResponseTo = scene.requestId === null ? '' : ` InResponseTo="${scene.requestId}"`;
  const issuer = `<saml:Issuer>${scene.entityId}</saml:Issuer>`;

  const nameId = (text: string, format = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent') =>
    `<saml:NameID Format="${format}">${text}</saml:NameID>`;

  /** A confirmation with just this content: `data` replaces its attributes by name; null omits one. */
  const confirmation = (data: Record<string, string | null> = {}, method = 'urn:oasis:names:tc:SAML:2.0:cm:bearer') => {
    const attributes = {
      Recipient: scene.acs,
      NotOnOrAfter: at(minutes(5)),
      InResponseTo: scene.requestId,
      ...data,
    };
    return `<saml:SubjectConfirmation Method="${method}"><saml:SubjectConfirmationData${written(attributes)}/></saml:SubjectConfirmation>`;
  };

  const conditions = (inside = audience(scene.audience), attributes: Record<string, string | null> = {}) => {
    const all = { NotBefore: at(-minutes(1)), NotOnOrAfter: at(minutes(5)), ...attributes };
    return `<saml:Conditions${written(all)}>${inside}</saml:Conditions>`;
  };

  const authn = (attributes: Record<string, string | null> = {}, context = 'Password') => {
    const all = { AuthnInstant: at(-1000), SessionIndex: '_s1', ...attributes };
    const reference = `<saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:${context}</saml:AuthnContextClassRef>`;
    return `<saml:AuthnStatement${written(all)}><saml:AuthnContext>${reference}</saml:AuthnContext></saml:AuthnStatement>`;
  };

  const attributes = (all: Record<string, string | string[]>) =>
    `<saml:AttributeStatement>${Object.entries(all)
      .map(([name, value]) => {
        const values = [value].flat().map((one) => `<saml:AttributeValue>${one}</saml:AttributeValue>`);
        return `<saml:Attribute Name="${name}">${values.join('')}</saml:Attribute>`;
      })
      .join('')}</saml:AttributeStatement>`;

  /** An assertion without a signature. */
  const assertion = (parts: AssertionParts = {}) => {
    const subject = `<saml:Subject>${parts.nameId ?? nameId('bob-1')}${parts.confirmation ?? confirmation()}</saml:Subject>`;
    return `<saml:Assertion ${namespaces} ID="${parts.id ?? '_a1'}" Version="2.0" IssueInstant="${parts.issuedAt ?? at(0)}">${
      parts.issuer ?? issuer
    }${parts.subject ?? subject}${parts.conditions ?? conditions()}${parts.authn ?? authn()}${
      parts.attributes ?? attributes({ email: 'bob@corp-b.example' })
    }${parts.end ?? ''}</saml:Assertion>`;
  };

  const response = (inside: string, parts: ResponseParts = {}) => {
    const name = parts.name ?? 'samlp:Response';
    const state = parts.status ?? `<samlp:Status><samlp:StatusCode Value="${status}Success"/></samlp:Status>`;
    return `<${name} ${namespaces} ID="${parts.id ?? '_r1'}" Version="${parts.version ?? '2.0'}" IssueInstant="${at(0)}"${
      parts.destination ?? ` Destination="${scene.acs}"`
    }${parts.inResponseTo ?? inResponseTo}>${parts.issuer ?? issuer}${parts.extensions ?? ''}${state}${inside}</${name}>`;
  };

  /** Signs the element with this ID; the signature follows the element's issuer. */
  const sign = (xml: string, id = '_a1', options: SigningOptions = {}) => {
    const { key = scene.key, algorithm = rsaSha256, digest = sha256, canonicalization = exclusive } = options;
    const signature = new SignedXml({
      privateKey: key.privateKey,
      publicCert: key.certificate,
      signatureAlgorithm: algorithm as never,
      canonicalizationAlgorithm: canonicalization as never,
      ...(options.keyInfo !== undefined && { getKeyInfoContent: () => options.keyInfo as string }),
    });
    addAlgorithms(signature);
    signature.addReference({
      xpath: `//*[@ID='${id}']`,
      transforms: options.transforms ?? [enveloped, exclusive],
      digestAlgorithm: digest,
      ...(options.emptyUri && { isEmptyUri: true }),
    });
    const reference = `//*[@ID='${id}']/*[local-name(.)='Issuer']`;
    signature.computeSignature(xml, { prefix: 'ds', location: { reference, action: 'after' } });
    return signature.getSignedXml();
  };

  return { scene, at, nameId, confirmation, conditions, audience, authn, attributes, assertion, response, sign };
}

export type Forger = ReturnType<typeof forger>;

/** A restriction to these audiences. */
export function audience(...names: string[]): string {
  return `<saml:AudienceRestriction>${names.map((name) => `<saml:Audience>${name}</saml:Audience>`).join('')}</saml:AudienceRestriction>`;
}

function written(attributes: Record<string, string | null>): string {
  return Object.entries(attributes)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => ` ${name}="${value}"`)
    .join('');
}

/** The first signature in a message, and the message without it. */
export function partSignature(xml: string): { signature: string; rest: string } {
  const [signature = ''] = /<ds:Signature .*?<\/ds:Signature>/s.exec(xml) ?? [];
  return { signature, rest: xml.replace(signature, '') };
}

/** As a form field. */
export function field(xml: string): string {
  return Buffer.from(xml).toString('base64');
}

/** An assertion encrypted for the owner of a certificate. */
export async function encrypted(
  assertion: string,
  certificate: string,
  {
    content = 'http://www.w3.org/2009/xmlenc11#aes256-gcm',
    transport = 'http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p',
  } = {},
): Promise<string> {
  const seal = promisify(encrypt);
  const data = await seal(assertion, {
    // The library requires a key and accepts a certificate as one.
    rsa_pub: certificate,
    pem: certificate,
    encryptionAlgorithm: content,
    keyEncryptionAlgorithm: transport,
    warnInsecureAlgorithm: false,
  });
  return `<saml:EncryptedAssertion>${data}</saml:EncryptedAssertion>`;
}
