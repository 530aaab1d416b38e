type CreationOptions = Omit<PublicKeyCredentialCreationOptions, 'challenge' | 'user' | 'excludeCredentials'> & {
  challenge: string;
  user: { id: string; name: string; displayName: string };
  excludeCredentials: { type: 'public-key'; id: string; transports: AuthenticatorTransport[] }[];
};

/**
 * On the account page: shows the form that makes a passkey, in place of what its page says without (`data-without`), if the
 * browser can make one. What the form says of a failure is in its data; it is sent without an answer where that has no words,
 * for the server's. Elsewhere there is nothing to do.
 */
export function startEnrolment(): void {
  const form = document.querySelector<HTMLFormElement>('form[data-old]');
  const field = form?.querySelector<HTMLInputElement>('input[name="credential"]');
  if (!form || !field || typeof PublicKeyCredential === 'undefined') return;
  const { options = '' } = form.dataset;
  const status = form.querySelector('[aria-live]');
  const button = form.querySelector('button');
  const session = form.querySelector<HTMLInputElement>('[name=session]')?.value ?? '';
  for (const part of document.querySelectorAll<HTMLElement>('[data-without]')) part.hidden = true;
  form.hidden = false;
  function pause(words: string): void {
    if (button) button.disabled = false;
    button?.focus();
    if (status) status.textContent = words;
  }
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (button?.disabled) return;
    if (button) button.disabled = true;
    if (status) status.textContent = '';
    const answer = await makePasskey(options, session);
    const problem = typeof answer === 'string' ? undefined : form.dataset[answer.problem];
    if (problem !== undefined) return pause(problem);
    field.value = typeof answer === 'string' ? answer : '';
    form.submit();
  });
}

/**
 * Has a passkey made. Returns the authenticator's answer as the server reads it, or what went wrong: `none` was made, the
 * device has one `already`, the page is too `old`, or the server too `busy`.
 */
export async function makePasskey(
  optionsUrl: string,
  session: string,
): Promise<string | { problem: 'none' | 'already' | 'old' | 'busy' }> {
  try {
    const body = new URLSearchParams({ session });
    const answer = await fetch(optionsUrl, { method: 'POST', body, headers: { accept: 'application/json' } });
    if (answer.status !== 200) return { problem: [429, 503].includes(answer.status) ? 'busy' : 'old' };
    return await createPasskey(await answer.json());
  } catch (error) {
    return { problem: error instanceof DOMException && error.name === 'InvalidStateError' ? 'already' : 'none' };
  }
}

async function createPasskey(options: CreationOptions): Promise<string> {
  const publicKey = {
    ...options,
    challenge: bytesOf(options.challenge),
    user: { ...options.user, id: bytesOf(options.user.id) },
    excludeCredentials: options.excludeCredentials.map((one) => ({ ...one, id: bytesOf(one.id) })),
  };
  return answerOf((await navigator.credentials.create({ publicKey })) as PublicKeyCredential);
}

const parts = ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature', 'userHandle'] as const;

/** The authenticator's answer as the server reads it. */
export function answerOf({ id, rawId, type, response }: PublicKeyCredential): string {
  const given: Partial<AuthenticatorAssertionResponse & AuthenticatorAttestationResponse> = response;
  const read = parts.flatMap((name) => (given[name] ? [[name, textOf(given[name])]] : []));
  const transports = given.getTransports?.();
  return JSON.stringify({ id, rawId: textOf(rawId), type, response: { ...Object.fromEntries(read), transports } });
}

/** The bytes that the server names in base64url. */
export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (letter) => letter.charCodeAt(0));
}

function textOf(buffer: ArrayBuffer): string {
  const letters = String.fromCharCode(...new Uint8Array(buffer));
  return btoa(letters).replace(/\+/g, '-').replace(/\//g, '_').replace(/=/g, '');
}
