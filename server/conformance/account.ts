import type { Answer, BackendVisit } from './backend-visit.ts';
import { type Target, targetOf } from './target.ts';

/** What the checks know of the backend's side; what is missing is not tried. */
export type Account = {
  username: string | null;
  password: string | null;
  /** Of its authenticator app, in base32. */
  totpSecret: string | null;
  /** Of somebody who may be sent a reset link. */
  email: string | null;
  /** Of somebody who signs in through a provider. */
  ssoEmail: string | null;
  /** The hash of a reset link, and the password that it may set. */
  reset: { hash: string; password: string } | null;
};

/** What a right password leads to. */
export type Landing = 'destination' | 'app' | 'email' | 'registration' | 'registration by email' | 'refused';

export const noAccount = 'needs --username';

/** Signs in, with a destination. */
export async function signIn(
  visit: BackendVisit,
  { username, password }: Account,
  redirectURL: string,
): Promise<Answer> {
  return await visit.send('performLogin', {
    form: { username: username ?? '', password: password ?? '', redirectURL },
  });
}

export function landingOf(answer: Answer, base: URL): Landing {
  const target: Target | null = targetOf(answer, base);
  if (target?.kind !== 'screen') return target ? 'destination' : 'refused';
  const isEmail = new URLSearchParams(target.search).get('codeSentViaEmail') === 'true';
  if (target.screen.name === 'twoFactor') return isEmail ? 'email' : 'app';
  if (target.screen.name === 'twoFactorRegistration') return isEmail ? 'registration by email' : 'registration';
  return target.screen.name === 'login' ? 'destination' : 'refused';
}
