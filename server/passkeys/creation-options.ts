import { limits } from '../limits.ts';
import { userHandleOf } from './check-assertion.ts';
import { offeredAlgorithms } from './usable-key.ts';

type Known = { credentialId: Buffer; transports: string[] };

/**
 * What a browser is told to make a passkey with (Web Authentication Level 3, §5.4): one that the authenticator keeps and finds
 * by itself, with verification of the person, without attestation, and none on a device that keeps one of the `known`.
 */
export function creationOptions(
  challenge: string,
  rp: { id: string; name: string },
  { id, username }: { id: string; username: string },
  known: readonly Known[],
) {
  return {
    challenge,
    rp,
    user: { id: userHandleOf(id).toString('base64url'), name: username, displayName: username },
    pubKeyCredParams: offeredAlgorithms.map((alg) => ({ type: 'public-key' as const, alg })),
    timeout: limits.passkeyChallenge,
    excludeCredentials: known.map(({ credentialId, transports }) => ({
      type: 'public-key' as const,
      id: credentialId.toString('base64url'),
      transports,
    })),
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
    attestation: 'none' as const,
  };
}
