import type { Language } from '#contract/languages.ts';
import type { AuditStep } from '../audit/audit-events.ts';
import type { Deps } from '../deps.ts';
import { limits } from '../limits.ts';
import { queueMail } from '../mail/queue-mail.ts';
import { newToken, tokenHash } from '../secrets/token.ts';
import { sessionEnd } from '../session/session-end.ts';
import { browserName } from '../sign-in/browser-name.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import { putDevice } from '../storage/device.ts';
import { countCodeTry, findHalfSession, type HalfSession, takeHalfSession } from '../storage/half-session.ts';
import { isUserActiveForChange, isUserActiveForShare } from '../storage/portal-user.ts';
import { insertRememberedDevice } from '../storage/remembered-device.ts';
import { insertSession, isSessionThereForUpdate } from '../storage/session.ts';
import { countAttempt, deleteThrottle } from '../storage/throttle.ts';
import { findTotp } from '../storage/totp.ts';
import { codeKey } from '../throttle/throttle-keys.ts';
import { clockHelp } from './clock-help.ts';
import { type Proof, takeProof } from './take-proof.ts';

export type VerifyRequest = {
  sessionToken: string;
  /** Six digits or a recovery code, as sent. */
  code: string;
  /** Whether this browser skips the code for a while. */
  remember: boolean;
  deviceToken: string | null;
  address: string;
  /** Of the page. */
  language: Language;
  userAgent: string | undefined;
  requestId: string;
};

/**
 * Every outcome of a code; `clockOffset` in seconds, `retryAfter` in milliseconds; after the last attempt none is
 * checked, and the sign-in form has the `username` filled in.
 */
export type VerifyResult =
  | {
      kind: 'right';
      proof: Proof;
      sessionToken: string;
      deviceToken: string;
      rememberedToken: string | null;
      /** The session's connection, if any. */
      connectionId: string | null;
    }
  | { kind: 'wrong'; clockOffset: number | null; isLast: boolean; username: string }
  | { kind: 'signInExpired' }
  /** An app was being set up, and the sign-in is now too old for that. */
  | { kind: 'signInTooOld' }
  | { kind: 'tooManyTries'; username: string }
  | { kind: 'throttled'; retryAfter: number };

/**
 * Checks a code of the second factor (decisions §8). Every attempt is counted before the check, per half session and
 * account and way in, so that concurrent attempts gain nothing; a right one is consumed in the transaction that creates
 * the session.
 */
export async function verifyCode(deps: Deps, request: VerifyRequest): Promise<VerifyResult> {
  const hash = tokenHash(request.sessionToken);
  const half = await findHalfSession(deps.sql, hash, request.address, deps.now());
  if (!half) return { kind: 'signInExpired' };
  const { username } = half;
  if (half.codeTries >= limits.codeTries) return { kind: 'tooManyTries', username };
  const tries = await countTry(deps, hash, half, request.address);
  if (typeof tries !== 'number') return tries;
  const done = await complete(deps, request, hash, half);
  if (done) return done;
  await recordWrong(deps, request, half, tries);
  const clockOffset = await clockHelp(deps, hash, half, request.code, tries);
  return { kind: 'wrong', clockOffset, isLast: tries >= limits.codeTries, username };
}

/**
 * Counts an attempt in the half session and for the account and its way in, or in neither: returns its number, or why
 * it is not allowed.
 */
async function countTry(deps: Deps, hash: Buffer, half: HalfSession, address: string): Promise<number | VerifyResult> {
  const { userId, username } = half;
  const now = deps.now();
  return await deps.sql
    .begin(async (sql): Promise<number | VerifyResult> => {
      // The user is locked first, as by every change of a user, so that there is no deadlock.
      if (!(await isUserActiveForShare(sql, userId))) return { kind: 'signInExpired' };
      const tries = await countCodeTry(sql, hash, limits.codeTries);
      if (tries === null)
        return (await findHalfSession(sql, hash, address, now))
          ? { kind: 'tooManyTries', username }
          : { kind: 'signInExpired' };
      const until = await countAttempt(sql, [codeKey(half)], now);
      if (until) throw new AccountWaits(until);
      return tries;
    })
    .catch((error: unknown): VerifyResult => {
      if (!(error instanceof AccountWaits)) throw error;
      return { kind: 'throttled', retryAfter: error.until.getTime() - now.getTime() };
    });
}

/** Rolls the transaction back: the account had too many attempts, so this one is not made. */
class AccountWaits extends Error {
  readonly until: Date;
  constructor(until: Date) {
    super();
    this.until = until;
  }
}

/** Rolls the transaction back: the way in ended during the check, and the code stays unused. */
class WayInEnded extends Error {}

/**
 * Turns the half session into a full one with everything that depends on it, or changes nothing; null if the code is
 * wrong. Of several at once the first to lock the half session wins, and no other code is consumed.
 */
async function complete(
  deps: Deps,
  request: VerifyRequest,
  hash: Buffer,
  half: HalfSession,
): Promise<(VerifyResult & { kind: 'right' | 'signInExpired' }) | null> {
  const { userId } = half;
  const now = deps.now();
  const sessionToken = newToken();
  const nextSessionHash = tokenHash(sessionToken);
  const mayRemember = half.customers.every(({ rememberDevices }) => rememberDevices);
  const rememberedToken = request.remember && mayRemember ? newToken() : null;
  const browser = browserName(request.userAgent);
  const place = { address: request.address, language: request.language, ...(browser && { browser }) };
  const completing = deps.sql.begin(async (sql) => {
    if (!(await isUserActiveForChange(sql, userId))) return null;
    if (!(await isSessionThereForUpdate(sql, hash))) return 'gone';
    // The app is required from now on: an older half session waits for too little.
    if (half.factor === 'email' && (await findTotp(sql, userId))) {
      await takeHalfSession(sql, hash);
      return 'gone';
    }
    const proof = await takeProof(deps, sql, { ...half, sessionHash: hash, nextSessionHash }, request.code);
    if (!proof) return null;
    const origin = await takeHalfSession(sql, hash);
    if (!origin) throw new WayInEnded();
    await insertSession(sql, {
      tokenHash: nextSessionHash,
      formerTokenHash: hash,
      userId,
      customerIds: half.customers.map(({ id }) => id),
      address: request.address,
      waitsFor: null,
      origin,
      now,
      endsAt: sessionEnd(now, deps.config.sessionAbsolute, origin.providerEndsAt),
    });
    const byPassword = origin.connectionId === null;
    const { deviceToken, isNew } = await putDevice(sql, request.deviceToken, { userId, byPassword, now });
    if (rememberedToken) {
      await insertRememberedDevice(sql, {
        tokenHash: tokenHash(rememberedToken),
        userId,
        factor: half.factor,
        browser: browser ?? null,
        address: request.address,
        madeAt: now,
        endsAt: new Date(now.getTime() + limits.rememberedDevice),
      });
    }
    await deleteThrottle(sql, codeKey(half));
    const reader = { ...half, id: userId };
    if (proof === 'app registered') await queueMail(sql, reader, { kind: 'secondFactorAdded', now, ...place });
    if (isNew && half.customers.some(({ newDeviceMail }) => newDeviceMail))
      await queueMail(sql, reader, { kind: 'newDevice', now, ...place });
    await insertAuditEvent(
      sql,
      { ...eventOf(half, request), event: 'signed-in', steps: stepsOf(proof, rememberedToken) },
      now,
    );
    return { proof, deviceToken, connectionId: origin.connectionId };
  });
  const done = await completing.catch((error: unknown) => {
    if (error instanceof WayInEnded) return 'gone' as const;
    throw error;
  });
  if (!done) return null;
  if (done === 'gone') return { kind: 'signInExpired' };
  deps.wake.mails();
  return { kind: 'right', ...done, sessionToken, rememberedToken };
}

async function recordWrong(deps: Deps, request: VerifyRequest, half: HalfSession, tries: number): Promise<void> {
  const steps = [{ step: 'code', outcome: `try ${tries} of ${limits.codeTries}, ${half.factor}` }];
  await insertAuditEvent(deps.sql, { ...eventOf(half, request), event: 'code-refused', steps }, deps.now());
  if (tries >= limits.codeTries)
    await insertAuditEvent(deps.sql, { ...eventOf(half, request), event: 'second-factor-ended' }, deps.now());
}

function eventOf({ userId, username }: HalfSession, { address, requestId }: VerifyRequest) {
  return { userId, username, address, requestId };
}

function stepsOf(proof: Proof, rememberedToken: string | null): AuditStep[] {
  return [
    { step: 'second factor', outcome: proof },
    ...(rememberedToken ? [{ step: 'device', outcome: 'remembered' }] : []),
  ];
}
