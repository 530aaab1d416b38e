import { verifyAuthenticationResponse } from '@simplewebauthn/server';
import type { AuditStep } from '../audit/audit-events.ts';
import type { PasskeyRefusalReason } from '../audit/passkey-reasons.ts';
import type { RelyingParty } from '../config/relying-party.ts';
import { recordable } from '../http/request-url.ts';
import type { PasskeyToVerify } from '../storage/passkey.ts';
import { readAuthenticatorData, refusalOfAuthenticatorData } from './authenticator-data.ts';
import { type Assertion, type ClientData, refusalOfClientData } from './read-answer.ts';

type CheckedAssertion =
  | { kind: 'right'; counter: number; backedUp: boolean }
  /** `isSigned`: the signature is right. */
  | { kind: 'refused'; reason: PasskeyRefusalReason; isSigned?: true };

/**
 * Checks an assertion (Web Authentication Level 3, §7.2) whose challenge has been taken: first what the library leaves out
 * or would say less clearly, then the library, which verifies the signature, and the counter last: an unsigned one says
 * nothing. What passes is noted in `steps`.
 */
export async function checkAssertion(
  { assertion, clientData, passkey }: { assertion: Assertion; clientData: ClientData; passkey: PasskeyToVerify },
  { id: rpId, origin }: RelyingParty,
  steps: AuditStep[],
): Promise<CheckedAssertion> {
  const ofClient = refusalOfClientData(clientData, { type: 'webauthn.get', origin });
  if (ofClient) return { kind: 'refused', reason: ofClient };
  // The authenticator may hold passkeys of several users; what it signs with must be of the one that it names.
  if (!assertion.userHandle.equals(userHandleOf(passkey.userId))) return { kind: 'refused', reason: 'other-user' };
  const data = readAuthenticatorData(assertion.authenticatorData);
  if (!data || data.attested) return { kind: 'refused', reason: 'malformed' };
  const ofData = refusalOfAuthenticatorData(data, rpId);
  if (ofData) return { kind: 'refused', reason: ofData };
  if (data.backupEligible !== passkey.backupEligible) return { kind: 'refused', reason: 'backup-flags' };
  const problem = await problemOfSignature({ assertion, clientData, passkey }, rpId, origin);
  if (problem === 'wrong') return { kind: 'refused', reason: 'wrong-signature' };
  if (problem !== null) {
    steps.push({ step: 'library', outcome: recordable(problem) });
    return { kind: 'refused', reason: 'answer-invalid' };
  }
  steps.push({ step: 'signature', outcome: 'right' });
  if ((data.counter > 0 || passkey.counter > 0) && data.counter <= passkey.counter) {
    steps.push({ step: 'counter', outcome: `${data.counter}, after ${passkey.counter}` });
    return { kind: 'refused', reason: 'counter-back', isSigned: true };
  }
  return { kind: 'right', counter: data.counter, backedUp: data.backedUp };
}

/** What authenticators know a user by: the bytes of the id, which says nothing about the person (§14.6.1). */
export function userHandleOf(userId: string): Buffer {
  return Buffer.from(userId.replaceAll('-', ''), 'hex');
}

/** Null if the library finds everything right, `wrong` for the signature, or its own words. */
async function problemOfSignature(
  { assertion, clientData, passkey }: { assertion: Assertion; clientData: ClientData; passkey: PasskeyToVerify },
  rpId: string,
  origin: string,
): Promise<string | null> {
  const text = (bytes: Buffer) => bytes.toString('base64url');
  const id = text(assertion.credentialId);
  try {
    const { verified } = await verifyAuthenticationResponse({
      response: {
        id,
        rawId: id,
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          clientDataJSON: text(assertion.clientData),
          authenticatorData: text(assertion.authenticatorData),
          signature: text(assertion.signature),
          userHandle: text(assertion.userHandle),
        },
      },
      expectedChallenge: clientData.challenge,
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: true,
      // Below any, as the library looks at the counter before the signature.
      credential: { id, publicKey: new Uint8Array(passkey.publicKey), counter: -1 },
    });
    return verified ? null : 'wrong';
  } catch (error) {
    return error instanceof Error ? error.message : 'unknown';
  }
}
