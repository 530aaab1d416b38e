import type { PasskeyRefusalReason } from '../audit/passkey-reasons.ts';
import { limits } from '../limits.ts';
import { isToken } from '../secrets/token.ts';

/** The answer of an authenticator as our script sends it (Web Authentication Level 3, §5.1, `toJSON`). */
type CredentialAnswer = { credentialId: Buffer; clientData: Buffer };

export type Assertion = CredentialAnswer & {
  authenticatorData: Buffer;
  signature: Buffer;
  /** What the authenticator knows the user by. A discoverable passkey always says it. */
  userHandle: Buffer;
};

export type Enrolment = CredentialAnswer & { attestationObject: Buffer; transports: string[] };

const { clientData, authenticatorData, attestationObject, signature, userHandle, credentialId } = limits.passkeyAnswer;

/** Reads the answer of a sign-in; null if a part is missing, too long or misspelt. */
export function readAssertion(text: string): Assertion | null {
  const answer = readCredential(text);
  if (!answer) return null;
  const { response } = answer;
  const parts = {
    authenticatorData: bytesOfBase64url(response.authenticatorData, authenticatorData),
    signature: bytesOfBase64url(response.signature, signature),
    userHandle: bytesOfBase64url(response.userHandle, userHandle),
  };
  const { credential } = answer;
  return parts.authenticatorData && parts.signature?.length && parts.userHandle?.length
    ? { ...credential, ...(parts as { [Name in keyof typeof parts]: Buffer }) }
    : null;
}

/** Reads the answer of an enrolment; null if a part is missing, too long or misspelt. */
export function readEnrolment(text: string): Enrolment | null {
  const answer = readCredential(text);
  const object = bytesOfBase64url(answer?.response.attestationObject, attestationObject);
  if (!answer || !object) return null;
  const given = answer.response.transports;
  const transports = Array.isArray(given) ? knownTransports.filter((transport) => given.includes(transport)) : [];
  return { ...answer.credential, attestationObject: object, transports };
}

/** How a browser reaches an authenticator (§5.8.4); others are ignored. */
const knownTransports = ['usb', 'nfc', 'ble', 'smart-card', 'hybrid', 'internal'];

function readCredential(text: string): { credential: CredentialAnswer; response: Record<string, unknown> } | null {
  const json = recordOf(text);
  const response = json?.response;
  if (!json || !isRecord(response)) return null;
  const id = bytesOfBase64url(json.id, credentialId.longest);
  const data = bytesOfBase64url(response.clientDataJSON, clientData);
  if (!id || id.length < credentialId.shortest || !data) return null;
  if (json.rawId !== json.id || json.type !== 'public-key') return null;
  return { credential: { credentialId: id, clientData: data }, response };
}

function recordOf(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What the browser says of a ceremony (Web Authentication Level 3, §5.8.1). */
export type ClientData = {
  type: unknown;
  challenge: string;
  origin: unknown;
  crossOrigin: unknown;
  topOrigin: unknown;
};

/** Reads the client data; null if they are not JSON, or the challenge is not in the form of ours. */
export function readClientData(bytes: Buffer): ClientData | null {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    if (!isRecord(value) || typeof value.challenge !== 'string' || !isToken(value.challenge)) return null;
    const { type, challenge, origin, crossOrigin, topOrigin } = value;
    return { type, challenge, origin, crossOrigin, topOrigin };
  } catch {
    return null;
  }
}

/** Why the client data are refused, or null. The library ignores `crossOrigin` (docs/decisions/0052). */
export function refusalOfClientData(
  { type, origin, crossOrigin, topOrigin }: ClientData,
  expected: { type: 'webauthn.create' | 'webauthn.get'; origin: string },
): PasskeyRefusalReason | null {
  if (type !== expected.type) return 'wrong-type';
  if (origin !== expected.origin) return 'wrong-origin';
  if ((crossOrigin !== undefined && crossOrigin !== false) || topOrigin !== undefined) return 'cross-origin';
  return null;
}

/**
 * The bytes of a base64url text, or null unless it is the only text for them: another spelling of the same bytes would pass
 * by a comparison of texts.
 */
function bytesOfBase64url(text: unknown, longest: number): Buffer | null {
  if (typeof text !== 'string' || text.length > Math.ceil((longest * 4) / 3)) return null;
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : null;
}
