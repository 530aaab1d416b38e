import { bytesOf, textOf } from './base64url.ts';

type CreationOptions = Omit<PublicKeyCredentialCreationOptions, 'challenge' | 'user' | 'excludeCredentials'> & {
  challenge: string;
  user: { id: string; name: string; displayName: string };
  excludeCredentials: { type: 'public-key'; id: string; transports: AuthenticatorTransport[] }[];
};

/**
 * Has a passkey made. Returns the authenticator's answer as the server reads it, or what went wrong: `none` was made, the
 * device has one `already`, the page is too `old`, or the server too `busy`. `body`: for whom, if the session does not say.
 */
export async function makePasskey(
  optionsUrl: string,
  body: URLSearchParams | null = null,
): Promise<string | { problem: 'none' | 'already' | 'old' | 'busy' }> {
  try {
    const answer = await fetch(optionsUrl, { method: 'POST', body, headers: { accept: 'application/json' } });
    if (!answer.ok) return { problem: [429, 503].includes(answer.status) ? 'busy' : 'old' };
    const options = (await answer.json()) as CreationOptions;
    const credential = (await navigator.credentials.create({
      publicKey: {
        ...options,
        challenge: bytesOf(options.challenge),
        user: { ...options.user, id: bytesOf(options.user.id) },
        excludeCredentials: options.excludeCredentials.map((one) => ({ ...one, id: bytesOf(one.id) })),
      },
    })) as PublicKeyCredential;
    const response = credential.response as AuthenticatorAttestationResponse;
    return JSON.stringify({
      id: credential.id,
      rawId: textOf(credential.rawId),
      type: credential.type,
      response: {
        clientDataJSON: textOf(response.clientDataJSON),
        attestationObject: textOf(response.attestationObject),
        transports: response.getTransports?.() ?? [],
      },
    });
  } catch (error) {
    return { problem: error instanceof DOMException && error.name === 'InvalidStateError' ? 'already' : 'none' };
  }
}

type Known = { rpId: string; userId: string; allAcceptedCredentialIds: string[] };
type Signals = { signalAllAcceptedCredentials?: (known: Known) => Promise<void> };

/** Tells what keeps passkeys which of this user are left, so that removed ones vanish there too (§5.1.10). */
export function tellManagers(known: Known): void {
  if (typeof PublicKeyCredential === 'undefined') return;
  (PublicKeyCredential as Signals).signalAllAcceptedCredentials?.(known).catch(() => {});
}
