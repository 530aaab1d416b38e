import { callUrl } from '#contract/calls.ts';
import { codeAnswerHeaders, type Problem, type RegistrationAnswer } from '#contract/payloads.ts';
import { queryNames } from '#contract/screens.ts';

/** Why a call failed, as far as the visitor is told. */
export type CallFailure =
  | { name: 'failed' }
  | { name: 'unavailable'; seconds: number }
  /** The half-signed-in session is gone. */
  | { name: 'signInExpired'; notice: 'signInExpired' | 'tooManyCodes' }
  /** `notice`: the server's explanation, if it gives more than the wait. */
  | { name: 'throttled'; seconds: number | null; notice?: 'codeNotSent' };

type CodeAnswer = { name: 'right'; next: string | null } | { name: 'wrong' } | { name: 'signInTooOld' };

/** `url`: of the call, with the destination that the link shall lead to. */
export async function askForReset(url: string, username: string): Promise<'done' | CallFailure> {
  const answer = await send(url, {
    method: 'POST',
    body: new URLSearchParams({ username }),
    redirect: 'manual',
  });
  if (answer && (answer.ok || answer.type === 'opaqueredirect')) return 'done';
  // Nobody is signed in here.
  return answer?.status === 401 ? { name: 'failed' } : await failureOf(answer);
}

/** Right on any 2xx with a truthy JSON body, for compatibility with other backends. */
export async function verifyCode(
  basePath: string,
  code: string,
  isRemembered: boolean,
): Promise<CodeAnswer | CallFailure> {
  const query = isRemembered ? `?${queryNames.remember}=true` : '';
  const answer = await send(callUrl(basePath, 'twoFactorVerify') + query, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(code),
    redirect: 'manual',
  });
  // A 409 alone may be another backend's.
  if (answer?.headers.get(codeAnswerHeaders.notice) === 'signInTooOld') return { name: 'signInTooOld' };
  if (!answer?.ok || answer.redirected) return await failureOf(answer);
  const body = await bodyOf(answer);
  if (body === undefined) return { name: 'failed' };
  if (body) return { name: 'right', next: answer.headers.get(codeAnswerHeaders.next) };
  const isLast = answer.headers.get(codeAnswerHeaders.notice) === 'tooManyCodes';
  return isLast ? { name: 'signInExpired', notice: 'tooManyCodes' } : { name: 'wrong' };
}

/** Sends another code by email; returns in how many seconds the next may be sent. */
export async function sendNewCode(url: string): Promise<{ name: 'sent'; seconds: number } | CallFailure> {
  const answer = await send(url, { method: 'POST', redirect: 'manual' });
  if (!answer?.ok) return await failureOf(answer);
  return { name: 'sent', seconds: secondsOf(answer.headers.get('retry-after')) ?? 0 };
}

export async function fetchRegistration(basePath: string): Promise<RegistrationAnswer | CallFailure> {
  const answer = await send(callUrl(basePath, 'twoFactorRegistration'), {});
  if (answer?.status !== 200) return await failureOf(answer);
  const body = (await bodyOf(answer)) as Partial<RegistrationAnswer> | null | undefined;
  const { url, totpSecret } = body ?? {};
  return typeof url === 'string' && typeof totpSecret === 'string' ? { url, totpSecret } : { name: 'failed' };
}

export async function logOut(basePath: string): Promise<'done' | CallFailure> {
  const answer = await send(callUrl(basePath, 'logout'), { redirect: 'manual' });
  return answer && (answer.ok || answer.type === 'opaqueredirect') ? 'done' : await failureOf(answer);
}

/** Null if no answer comes. */
async function send(url: string, init: RequestInit): Promise<Response | null> {
  // The page's language, which may differ from the browser's: that of an email that the call sends.
  const headers = { accept: 'application/json', 'accept-language': document.documentElement.lang, ...init.headers };
  return await fetch(url, { ...init, headers }).catch(() => null);
}

/** Undefined if it is no JSON. */
async function bodyOf(answer: Response): Promise<unknown> {
  return await answer.json().catch(() => undefined);
}

async function failureOf(answer: Response | null): Promise<CallFailure> {
  const seconds = secondsOf(answer?.headers.get('retry-after') ?? null);
  if (answer?.status === 401 || answer?.status === 429) {
    const { notice } = ((await bodyOf(answer)) ?? {}) as Partial<Problem>;
    if (answer.status === 429)
      return { name: 'throttled', seconds, ...(notice === 'codeNotSent' && { notice: 'codeNotSent' }) };
    return { name: 'signInExpired', notice: notice === 'tooManyCodes' ? 'tooManyCodes' : 'signInExpired' };
  }
  // An unread body keeps the connection busy.
  answer?.body?.cancel();
  // Without a time no more is known than of any failure, and no more is said.
  return answer?.status === 503 && seconds !== null ? { name: 'unavailable', seconds } : { name: 'failed' };
}

function secondsOf(retryAfter: string | null): number | null {
  return retryAfter && /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) : null;
}
