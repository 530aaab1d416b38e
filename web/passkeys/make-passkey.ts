export type CreationOptions = Omit<PublicKeyCredentialCreationOptions, 'challenge' | 'user' | 'excludeCredentials'> & {
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
    const options = await askForOptions(optionsUrl, body);
    return typeof options === 'number'
      ? { problem: [429, 503].includes(options) ? 'busy' : 'old' }
      : JSON.stringify(await createPasskey(options));
  } catch (error) {
    return { problem: error instanceof DOMException && error.name === 'InvalidStateError' ? 'already' : 'none' };
  }
}

/** What the server tells the browser to make a passkey with, or the status of an answer without. Throws if none comes. */
export async function askForOptions(
  optionsUrl: string,
  body: URLSearchParams | null,
): Promise<CreationOptions | number> {
  const answer = await fetch(optionsUrl, { method: 'POST', body, headers: { accept: 'application/json' } });
  return answer.status === 200 ? ((await answer.json()) as CreationOptions) : answer.status;
}

/** Asks the browser for a passkey; returns the authenticator's answer as the server reads it. Throws as the browser does. */
async function createPasskey(options: CreationOptions) {
  const credential = (await navigator.credentials.create({
    publicKey: {
      ...options,
      challenge: bytesOf(options.challenge),
      user: { ...options.user, id: bytesOf(options.user.id) },
      excludeCredentials: options.excludeCredentials.map((one) => ({ ...one, id: bytesOf(one.id) })),
    },
  })) as PublicKeyCredential;
  const response = credential.response as AuthenticatorAttestationResponse;
  return {
    id: credential.id,
    rawId: textOf(credential.rawId),
    type: credential.type,
    response: {
      clientDataJSON: textOf(response.clientDataJSON),
      attestationObject: textOf(response.attestationObject),
      transports: response.getTransports?.() ?? [],
    },
  };
}

/** The bytes that the server names in base64url. */
export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (letter) => letter.charCodeAt(0));
}

/** Bytes as the server reads them. */
export function textOf(buffer: ArrayBuffer): string {
  const letters = String.fromCharCode(...new Uint8Array(buffer));
  return btoa(letters).replace(/\+/g, '-').replace(/\//g, '_').replace(/=/g, '');
}
