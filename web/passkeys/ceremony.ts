import { answerOf, bytesOf, startEnrolment } from './enrol.ts';

// A script of its own, loaded when a passkey may be used or made, and the only one of the account page
// (docs/decisions/0052).
startEnrolment();

/** What the server asks for, in base64url (server/factors/passkey-ceremony.ts). */
type Options = { challenge: string; rpId: string; timeout: number; userVerification: UserVerificationRequirement };

/** A little less than the five minutes that the server gives a ceremony. */
const renewedEvery = 240_000;

/** Cancels what offers passkeys in the field: a browser runs one ceremony at a time. */
let quiet: AbortController | undefined;

/** The answer to the last click of the button, for the field, which offers again if there was none. */
let clicked: Promise<string | null> | undefined;

/** The answer as the server reads it; null if the person cancelled, has none, or the server gave nothing to sign. */
export async function askForPasskey(optionsUrl: string): Promise<string | null> {
  clicked = ask(optionsUrl, {}).catch(() => null);
  quiet?.abort();
  return await clicked;
}

/**
 * Offers passkeys where the browser offers names (conditional mediation, Web Authentication Level 3, §5.1.4), until one
 * is chosen, a click of the button brings one, or `signal` aborts. Asks for a new challenge before the old one expires, but not while
 * the browser's own window is open, and with it somebody's finger on its way.
 */
export async function offerPasskeys(optionsUrl: string, signal: AbortSignal): Promise<string | null> {
  while (!signal.aborted) {
    const round = new AbortController();
    quiet = round;
    const stop = () => round.abort();
    signal.addEventListener('abort', stop);
    let isOld = false;
    const timer = setTimeout(() => {
      isOld = true;
      if (document.hasFocus()) round.abort();
      else addEventListener('focus', stop, { once: true });
    }, renewedEvery);
    try {
      return await ask(optionsUrl, { mediation: 'conditional', signal: round.signal });
    } catch {
      const click = clicked;
      clicked = undefined;
      if (click ? await click : !isOld) return null;
    } finally {
      clearTimeout(timer);
      removeEventListener('focus', stop);
      signal.removeEventListener('abort', stop);
    }
  }
  return null;
}

/** What the server was asked for and has not answered yet. */
let pending: Promise<Options | null> | undefined;

/** A ceremony begun by the server, one at a time: of two answers that each set the cookie for the first time, one would lose. */
async function begin(optionsUrl: string): Promise<Options | null> {
  pending ??= fetch(optionsUrl, { method: 'POST', headers: { accept: 'application/json' } })
    .then((answer) => (answer.ok ? answer.json() : null))
    .finally(() => {
      pending = undefined;
    });
  return await pending;
}

async function ask(optionsUrl: string, more: Omit<CredentialRequestOptions, 'publicKey'>): Promise<string | null> {
  const begun = await begin(optionsUrl);
  if (!begun) return null;
  const { challenge, ...options } = begun;
  const publicKey = { ...options, challenge: bytesOf(challenge) };
  const credential = await navigator.credentials.get({ publicKey, ...more });
  return credential && answerOf(credential as PublicKeyCredential);
}
