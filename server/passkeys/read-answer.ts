import { limits } from '../limits.ts';
import { bytesOfBase64url } from './base64url.ts';

/** The answer of an authenticator as our script sends it (Web Authentication Level 3, §5.1, `toJSON`). */
export type CredentialAnswer = { credentialId: Buffer; clientData: Buffer };

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
