import { constants, createPublicKey, createSign, createVerify } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { type ForgerKey, field, forger, type SigningOptions } from './forged-saml.ts';

/** What a genuine logout message would contain, and what replaces it: '' omits a part. */
export type LogoutScene = { key: ForgerKey; now: Date; entityId: string; destination: string };
export type LogoutParts = {
  kind?: 'LogoutRequest' | 'LogoutResponse';
  id?: string;
  version?: string;
  issuedAt?: string;
  destination?: string;
  issuer?: string;
  inResponseTo?: string;
  end?: string;
  /** NameID and SessionIndex of a request, Status of a response. */
  inside?: string;
  extensions?: string;
};

const names = 'xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol"';
const status = 'urn:oasis:names:tc:SAML:2.0:status:';
let messages = 0;

/** A status with these codes, nested. */
export function statusOf(...codes: string[]): string {
  const code = codes.reduceRight(
    (inside, name) => `<samlp:StatusCode Value="${status}${name}">${inside}</samlp:StatusCode>`,
    '',
  );
  return `<samlp:Status>${code}</samlp:Status>`;
}

/** A NameID with the names of sessions. */
export function whom(name: string, ...sessions: string[]): string {
  const indexes = sessions.map((session) => `<samlp:SessionIndex>${session}</samlp:SessionIndex>`).join('');
  return `<saml:NameID>${name}</saml:NameID>${indexes}`;
}

export function logoutXml({ now, entityId, destination }: LogoutScene, parts: LogoutParts = {}): string {
  messages += 1;
  const { kind = 'LogoutRequest', id = `_logout${messages}`, version = '2.0' } = parts;
  const inside = parts.inside ?? (kind === 'LogoutRequest' ? whom('alice@acme.test') : statusOf('Success'));
  return `<samlp:${kind} ${names} ID="${id}" Version="${version}" IssueInstant="${parts.issuedAt ?? now.toISOString()}"${
    parts.destination ?? ` Destination="${destination}"`
  }${parts.inResponseTo === undefined ? '' : ` InResponseTo="${parts.inResponseTo}"`}${parts.end ?? ''}>${
    parts.issuer ?? `<saml:Issuer>${entityId}</saml:Issuer>`
  }${parts.extensions ?? ''}${inside}</samlp:${kind}>`;
}

const more = 'http://www.w3.org/2001/04/xmldsig-more#';

/** The query of an address with a message, signed over its exact text. */
export function redirected(
  { key }: Pick<LogoutScene, 'key'>,
  xml: string,
  {
    relayState,
    algorithm = `${more}rsa-sha256`,
    hash = 'sha256',
    name = 'SAMLRequest',
  }: {
    relayState?: string;
    algorithm?: string;
    hash?: string;
    name?: string;
  } = {},
): string {
  const packed = encodeURIComponent(deflateRawSync(xml).toString('base64'));
  const state = relayState === undefined ? '' : `&RelayState=${encodeURIComponent(relayState)}`;
  const query = `${name}=${packed}${state}&SigAlg=${encodeURIComponent(algorithm)}`;
  const signature = createSign(hash).update(query).sign({ key: key.privateKey, padding: constants.RSA_PKCS1_PADDING });
  return `${query}&Signature=${encodeURIComponent(signature.toString('base64'))}`;
}

/** The form with a message that contains its signature. */
export function posted(
  scene: LogoutScene,
  xml: string,
  { relayState, name = 'SAMLRequest', ...options }: SigningOptions & { relayState?: string; name?: string } = {},
): Record<string, string> {
  const { sign } = forger({ ...scene, acs: '', audience: '', requestId: null });
  const [, id = ''] = / ID="([^"]+)"/.exec(xml) ?? [];
  return {
    [name]: field(sign(xml, id, options)),
    ...(relayState !== undefined && { RelayState: relayState }),
  };
}

/** The portal's message in an address, after its signature was verified with this certificate. */
export function messageAt(url: string, certificate: string): { xml: string; relayState: string | null } {
  const { search } = new URL(url);
  const [signed = '', signature = ''] = search.slice(1).split('&Signature=');
  const begin = Math.max(signed.indexOf('SAMLRequest='), signed.indexOf('SAMLResponse='));
  const verify = createVerify('sha256').update(signed.slice(begin));
  if (!verify.verify(createPublicKey(certificate), decodeURIComponent(signature), 'base64'))
    throw new Error('The signature is not true');
  const parameters = new URLSearchParams(search);
  const packed = parameters.get('SAMLRequest') ?? parameters.get('SAMLResponse') ?? '';
  const xml = inflateRawSync(Buffer.from(packed, 'base64')).toString();
  return { xml, relayState: parameters.get('RelayState') };
}
