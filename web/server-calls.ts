import { callUrl } from '#contract/calls.ts';
import type { RegistrationAnswer } from '#contract/payloads.ts';

/** Why a call did not succeed, as far as the visitor is told. */
export type CallFailure =
  | { name: 'failed' | 'unavailable' | 'signInExpired' }
  | { name: 'throttled'; seconds: number | null };

export async function askForReset(basePath: string, username: string): Promise<'done' | CallFailure> {
  const answer = await send(callUrl(basePath, 'passwordForgotten'), {
    method: 'POST',
    body: new URLSearchParams({ username }),
    redirect: 'manual',
  });
  return answer && (answer.ok || answer.type === 'opaqueredirect') ? 'done' : failureOf(answer);
}

/** Right only on status 200 and exactly `true`: an error body is truthy too (decisions §5). */
export async function verifyCode(basePath: string, code: string): Promise<'right' | 'wrong' | CallFailure> {
  const answer = await send(callUrl(basePath, 'twoFactorVerify'), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(code),
  });
  if (answer?.status !== 200) return failureOf(answer);
  const body = await bodyOf(answer);
  if (body === true) return 'right';
  return body === false ? 'wrong' : { name: 'failed' };
}

export async function fetchRegistration(basePath: string): Promise<RegistrationAnswer | CallFailure> {
  const answer = await send(callUrl(basePath, 'twoFactorRegistration'), {});
  if (answer?.status !== 200) return failureOf(answer);
  const body = (await bodyOf(answer)) as Partial<RegistrationAnswer> | null | undefined;
  const { url, totpSecret } = body ?? {};
  return typeof url === 'string' && typeof totpSecret === 'string' ? { url, totpSecret } : { name: 'failed' };
}

export async function logOut(basePath: string): Promise<'done' | CallFailure> {
  const answer = await send(callUrl(basePath, 'logout'), { redirect: 'manual' });
  return answer && (answer.ok || answer.type === 'opaqueredirect') ? 'done' : failureOf(answer);
}

async function send(url: string, init: RequestInit): Promise<Response | null> {
  try {
    return await fetch(url, { ...init, headers: { accept: 'application/json', ...init.headers } });
  } catch {
    return null;
  }
}

async function bodyOf(answer: Response): Promise<unknown> {
  try {
    return await answer.json();
  } catch {
    return undefined;
  }
}

function failureOf(answer: Response | null): CallFailure {
  // A body that nobody reads keeps the connection waiting.
  answer?.body?.cancel();
  if (answer?.status === 401) return { name: 'signInExpired' };
  if (answer?.status === 429) return { name: 'throttled', seconds: secondsOf(answer.headers.get('retry-after')) };
  if (answer?.status === 503) return { name: 'unavailable' };
  return { name: 'failed' };
}

function secondsOf(retryAfter: string | null): number | null {
  return retryAfter && /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) : null;
}
