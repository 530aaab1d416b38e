import { createPublicKey } from 'node:crypto';
import { verifyRegistrationResponse } from '@simplewebauthn/server';
import { decodeAttestationObject, decodeCredentialPublicKey } from '@simplewebauthn/server/helpers';
import type { AuditStep } from '../audit/audit-events.ts';
import type { PasskeyRefusalReason } from '../audit/passkey-reasons.ts';
import type { RelyingParty } from '../config/relying-party.ts';
import { recordable } from '../http/request-url.ts';
import type { NewPasskey } from '../storage/passkey.ts';
import {
  type Attested,
  type AuthenticatorData,
  endOfCbor,
  readAuthenticatorData,
  refusalOfAuthenticatorData,
} from './authenticator-data.ts';
import { type ClientData, type Enrolment, refusalOfClientData } from './read-answer.ts';

export type EnrolledKey = Pick<
  NewPasskey,
  'credentialId' | 'publicKey' | 'counter' | 'backupEligible' | 'backedUp' | 'aaguid' | 'transports'
>;
type CheckedEnrolment = { kind: 'right'; key: EnrolledKey } | { kind: 'refused'; reason: PasskeyRefusalReason };

type Given = { enrolment: Enrolment; clientData: ClientData };

/**
 * Checks the answer of an enrolment (Web Authentication Level 3, §7.1) whose challenge has been taken: first what the library
 * leaves out or would say less clearly, then the library.
 */
export async function checkEnrolment(
  given: Given,
  { id: rpId, origin }: RelyingParty,
  steps: AuditStep[],
): Promise<CheckedEnrolment> {
  const { enrolment, clientData } = given;
  const ofClient = refusalOfClientData(clientData, { type: 'webauthn.create', origin });
  if (ofClient) return { kind: 'refused', reason: ofClient };
  const object = readAttestation(enrolment.attestationObject);
  if (object === 'attestation') return { kind: 'refused', reason: 'attestation' };
  const attested = object?.data.attested;
  if (!object || !attested?.credentialId.equals(enrolment.credentialId))
    return { kind: 'refused', reason: 'malformed' };
  const ofData = refusalOfAuthenticatorData(object.data, rpId);
  if (ofData) return { kind: 'refused', reason: ofData };
  const ofKey = keyProblem(attested.publicKey);
  if (ofKey) return { kind: 'refused', reason: ofKey };
  const problem = await problemOfLibrary(given, rpId, origin);
  if (problem !== null) {
    steps.push({ step: 'library', outcome: recordable(problem) });
    return { kind: 'refused', reason: 'answer-invalid' };
  }
  return { kind: 'right', key: keyOf(object.data, attested, enrolment.transports) };
}

function keyOf(
  data: AuthenticatorData,
  { aaguid, credentialId, publicKey }: Attested,
  transports: string[],
): EnrolledKey {
  const { counter, backupEligible, backedUp } = data;
  const hex = aaguid.toString('hex');
  const uuid = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return { credentialId, publicKey, counter, backupEligible, backedUp, aaguid: uuid, transports };
}

/**
 * Reads an attestation object (§6.5.4). No attestation is asked for, so only `none` is taken, and `packed` without
 * certificates, by which an authenticator vouches for itself and which browsers may pass on (§5.1.3); nothing else is even
 * parsed. Null if it is cut, or has bytes after its end.
 */
function readAttestation(bytes: Buffer): { data: AuthenticatorData } | 'attestation' | null {
  if (endOfCbor(bytes) !== bytes.length) return null;
  try {
    const object = decodeAttestationObject(new Uint8Array(bytes)) as unknown as Map<string, unknown>;
    const [fmt, statement, authData] = ['fmt', 'attStmt', 'authData'].map((name) => object.get(name));
    if (!(authData instanceof Uint8Array) || !(statement instanceof Map)) return null;
    const isSelf = fmt === 'packed' && !statement.has('x5c');
    if (!isSelf && !(fmt === 'none' && statement.size === 0)) return 'attestation';
    const data = readAuthenticatorData(Buffer.from(authData));
    return data && { data };
  } catch {
    return null;
  }
}

/** Null if the library finds everything right, or its words. */
async function problemOfLibrary(
  { enrolment, clientData }: Given,
  rpId: string,
  origin: string,
): Promise<string | null> {
  const text = (bytes: Buffer) => bytes.toString('base64url');
  const id = text(enrolment.credentialId);
  try {
    const { verified } = await verifyRegistrationResponse({
      response: {
        id,
        rawId: id,
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          clientDataJSON: text(enrolment.clientData),
          attestationObject: text(enrolment.attestationObject),
        },
      },
      expectedChallenge: clientData.challenge,
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserPresence: true,
      requireUserVerification: true,
      supportedAlgorithmIDs: [...offeredAlgorithms],
    });
    return verified ? null : 'not verified';
  } catch (error) {
    return error instanceof Error ? error.message : 'unknown';
  }
}

/** The algorithms that are offered, in this order (RFC 9053, RFC 8812): ES256, EdDSA with Ed25519, RS256. */
export const offeredAlgorithms = [-7, -8, -257] as const;

/** Labels of COSE keys (RFC 9052 §7.1, RFC 9053 §7); for RSA -1 is the modulus and -2 the exponent (RFC 8230 §4). */
const label = { type: 1, algorithm: 3, curve: -1, x: -2, y: -3 } as const;

/**
 * Whether the key of a new passkey can verify what it will sign: one of the offered algorithms, with the curve that belongs
 * to it, a point on it, or an RSA key of 2048 to 4096 bits; and nothing else in it (Web Authentication Level 3, §6.5.1.1). The
 * library stores any key, and takes any curve for ES256.
 */
function keyProblem(publicKey: Buffer): 'algorithm-not-offered' | 'key-unusable' | null {
  let key: Map<number, unknown>;
  try {
    key = decodeCredentialPublicKey(new Uint8Array(publicKey)) as unknown as Map<number, unknown>;
  } catch {
    return 'key-unusable';
  }
  if (!(key instanceof Map)) return 'key-unusable';
  const algorithm = key.get(label.algorithm);
  if (!offeredAlgorithms.some((offered) => offered === algorithm)) return 'algorithm-not-offered';
  try {
    const known = algorithm as (typeof offeredAlgorithms)[number];
    return key.size === partsOf[known] && isUsable(key, known) ? null : 'key-unusable';
  } catch {
    return 'key-unusable';
  }
}

/** How many parts a key of an algorithm has, which `isUsable` reads all. */
const partsOf = { [-7]: 5, [-8]: 4, [-257]: 4 } as const;

function isUsable(key: Map<number, unknown>, algorithm: (typeof offeredAlgorithms)[number]): boolean {
  const type = key.get(label.type);
  const text = (at: number, ...lengths: number[]) => {
    const bytes = key.get(at);
    if (!(bytes instanceof Uint8Array) || (lengths.length > 0 && !lengths.includes(bytes.length)))
      throw new Error('size');
    return Buffer.from(bytes).toString('base64url');
  };
  const isKey = (jwk: Record<string, string>) => createPublicKey({ key: jwk, format: 'jwk' });
  if (algorithm === -7) {
    if (type !== 2 || key.get(label.curve) !== 1) return false;
    return Boolean(isKey({ kty: 'EC', crv: 'P-256', x: text(label.x, 32), y: text(label.y, 32) }));
  }
  if (algorithm === -8) {
    if (type !== 1 || key.get(label.curve) !== 6) return false;
    return Boolean(isKey({ kty: 'OKP', crv: 'Ed25519', x: text(label.x, 32) }));
  }
  if (type !== 3) return false;
  const { modulusLength = 0, publicExponent } =
    isKey({ kty: 'RSA', n: text(label.curve), e: text(label.x, 3) }).asymmetricKeyDetails ?? {};
  return modulusLength >= 2048 && modulusLength <= 4096 && publicExponent === 65_537n;
}
