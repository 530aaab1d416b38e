import { verifyRegistrationResponse } from '@simplewebauthn/server';
import { decodeAttestationObject } from '@simplewebauthn/server/helpers';
import type { AuditStep } from '../audit/audit-events.ts';
import type { PasskeyRefusalReason } from '../audit/passkey-reasons.ts';
import type { RelyingParty } from '../config/relying-party.ts';
import { recordable } from '../http/request-url.ts';
import type { NewPasskey } from '../storage/passkey.ts';
import {
  type Attested,
  type AuthenticatorData,
  readAuthenticatorData,
  refusalOfAuthenticatorData,
} from './authenticator-data.ts';
import { endOfCbor } from './cbor-end.ts';
import { type ClientData, refusalOfClientData } from './client-data.ts';
import type { Enrolment } from './read-answer.ts';
import { keyProblem, offeredAlgorithms } from './usable-key.ts';

export type EnrolledKey = Pick<
  NewPasskey,
  'credentialId' | 'publicKey' | 'counter' | 'backupEligible' | 'backedUp' | 'aaguid' | 'transports'
>;
export type CheckedEnrolment = { kind: 'right'; key: EnrolledKey } | { kind: 'refused'; reason: PasskeyRefusalReason };

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
