import { randomUUID } from 'node:crypto';
import { type AuditStep, customersOfEvent } from '../audit/audit-events.ts';
import type { Deps } from '../deps/deps.ts';
import { limits } from '../limits.ts';
import { placeOfVisitor, queueMail } from '../mail/queue-mail.ts';
import { browserName } from '../names/browser-name.ts';
import { tokenHash } from '../secrets/token.ts';
import { sessionEnd } from '../session/session-end.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import type { CodeTry } from '../storage/code-try.ts';
import { RollBack } from '../storage/database.ts';
import { putDevice } from '../storage/device.ts';
import { findEmailCode } from '../storage/email-code.ts';
import { type HalfSession, takeHalfSession } from '../storage/half-session.ts';
import { wantsNewDeviceMail } from '../storage/new-device-mail.ts';
import { findActiveUserForChange } from '../storage/portal-user.ts';
import { insertRememberedDevice } from '../storage/remembered-device.ts';
import { insertSession, isSessionThereForUpdate } from '../storage/session.ts';
import { deleteThrottle } from '../storage/throttle.ts';
import { codeKey, codeMailKey } from '../storage/throttle-keys.ts';
import { findTotp } from '../storage/totp.ts';
import type { KnownVisitor } from '../visitor/visitor.ts';
import { whoHas } from '../visitor/who.ts';
import { clockHelp } from './clock-help.ts';
import { countTry, recordThrottledTry } from './count-try.ts';
import { type Press, pressDigest, tokensForAnswer } from './press.ts';
import { type Proof, takeProof } from './take-proof.ts';

export type VerifyRequest = Press &
  Pick<KnownVisitor, 'language' | 'requestId' | 'registrationToken'> & {
    /** Whether this browser skips the code for a while. */
    remember: boolean;
  };

/**
 * Every outcome of a code; `clockOffset` in seconds, `retryAfter` in milliseconds; after the last attempt none is
 * checked, and the sign-in form has the `username` filled in.
 */
export type VerifyResult =
  | {
      kind: 'right';
      /** There is something to read before the destination. */
      hasPage: boolean;
      sessionToken: string;
      deviceToken: string;
      rememberedToken: string | null;
      /** The session's connection, if any. */
      connectionId: string | null;
    }
  /** The code by email was right, and an app is to be registered next, in a half session of its own. */
  | { kind: 'thenApp'; sessionToken: string }
  /** The code was right at the press before this one, in the same session, whose recovery codes are still to be read. */
  | { kind: 'codesToRead' }
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
export async function verifyCode(deps: Deps, request: VerifyRequest, half: HalfSession): Promise<VerifyResult> {
  const hash = tokenHash(request.sessionToken);
  const { userId, username } = half;
  const counted = await countTry(deps, request, { hash, userId, way: half, stage: 'half' });
  if (counted.kind === 'usedUp')
    return (await whoHas(deps, request.sessionToken, request.address)).kind === 'half'
      ? { kind: 'tooManyTries', username }
      : { kind: 'signInExpired' };
  if (counted.kind === 'throttled') await recordThrottledTry(deps, eventOf(half, request), half, counted);
  if (counted.kind !== 'counted') return counted;
  // The press that opened this half session, by a browser that took the cookie of its answer and dropped the page.
  if (counted.isSamePress && counted.tries === 0) return { kind: 'thenApp', sessionToken: request.sessionToken };
  const done = await complete(deps, request, hash, half, counted);
  if (done) return done;
  if (!counted.isSamePress) await recordWrong(deps, request, half, counted.tries);
  const clockOffset = await clockHelp(deps, request, half, counted);
  return { kind: 'wrong', clockOffset, isLast: counted.tries >= limits.codeTries, username };
}

/**
 * Turns the half session into a full one with everything that depends on it, or into the one that registers an app, or
 * changes nothing; null if the code is wrong. Of several concurrent attempts the first to lock the half session wins,
 * and no other code is consumed.
 */
async function complete(
  deps: Deps,
  request: VerifyRequest,
  hash: Buffer,
  half: HalfSession,
  { at, isSamePress }: CodeTry,
): Promise<Extract<VerifyResult, { kind: 'right' | 'thenApp' | 'signInExpired' }> | null> {
  const { userId } = half;
  const now = deps.now();
  const tokens = tokensForAnswer(deps.keys, request);
  const nextSessionHash = tokenHash(tokens.session);
  const nextSessionId = randomUUID();
  const mayRemember = half.customers.every(({ rememberDevices }) => rememberDevices);
  const rememberedToken = request.remember && mayRemember ? tokens.remembered : null;
  const browser = browserName(request.userAgent);
  const place = placeOfVisitor(request);
  const done = await deps.sql.begin(async (sql) => {
    // Read now: the email may have been replaced while the code was under way. Statements sent together run one after
    // the other, so the user is locked first.
    const [reader, isThere] = await Promise.all([
      findActiveUserForChange(sql, userId),
      isSessionThereForUpdate(sql, hash),
    ]);
    if (!reader) return null;
    if (!isThere) return 'gone';
    // The app is required from now on: an older half session waits for too little.
    if (half.factor === 'email' && (await findTotp(sql, userId))) {
      await takeHalfSession(sql, hash);
      return 'gone';
    }
    // The same press with another code by email since is a guess at that one.
    const mailed = isSamePress && half.factor === 'email' ? await findEmailCode(sql, half.id) : null;
    if (mailed && mailed.madeAt > at) return null;
    const asOfPress = { ...deps, now: () => at };
    const proof = await takeProof(
      asOfPress,
      sql,
      { ...half, sessionId: half.id, sessionHash: hash, nextSessionId, browser: request },
      request.code,
    );
    if (!proof) return null;
    const origin = await takeHalfSession(sql, hash);
    // The way in ended during the check, and the code stays unused.
    if (!origin) return new RollBack('gone' as const);
    const lifetime = half.thenApp ? limits.halfSession : deps.config.sessionAbsolute;
    const sessionAndCount = [
      insertSession(sql, {
        id: nextSessionId,
        tokenHash: nextSessionHash,
        formerTokenHash: hash,
        pressAt: at,
        userId,
        customerIds: half.customers.map(({ id }) => id),
        address: request.address,
        browser: browser ?? null,
        waitsFor: half.thenApp ? { factor: 'app', mustRegister: true } : null,
        proven: 'code',
        proof: 'code',
        provenAt: now,
        origin,
        ...(half.thenApp && {
          openedByPress: request.isForm ? pressDigest(deps.keys, { ...request, sessionToken: tokens.session }) : null,
        }),
        now,
        endsAt: sessionEnd(now, lifetime, origin.providerEndsAt),
      }),
      deleteThrottle(sql, codeKey(half)),
      deleteThrottle(sql, codeMailKey(half)),
    ];
    if (half.thenApp) {
      const asked = { ...eventOf(half, request), event: 'second-factor-asked', steps: stepsOf(proof, null) } as const;
      await Promise.all([...sessionAndCount, insertAuditEvent(sql, asked, now)]);
      return 'thenApp';
    }
    const byPassword = origin.connectionId === null;
    const steps = stepsOf(proof, rememberedToken);
    const remembered = {
      userId,
      factor: half.factor,
      browser: browser ?? null,
      address: request.address,
      madeAt: now,
      endsAt: new Date(now.getTime() + limits.rememberedDevice),
    };
    const [{ deviceToken, isNew }, isWanted] = await Promise.all([
      putDevice(sql, request.deviceToken, { userId, byPassword, now, fresh: tokens.device }),
      wantsNewDeviceMail(sql, userId),
      insertAuditEvent(sql, { ...eventOf(half, request), event: 'signed-in', steps }, now),
      rememberedToken && insertRememberedDevice(sql, { ...remembered, tokenHash: tokenHash(rememberedToken) }),
      proof === 'app registered' && queueMail(sql, reader, { kind: 'secondFactorAdded', now, ...place }),
      ...sessionAndCount,
    ]);
    if (isNew && isWanted) await queueMail(sql, reader, { kind: 'newDevice', now, ...place });
    return { proof, deviceToken, connectionId: origin.connectionId };
  });
  if (!done) return null;
  if (done === 'gone') return { kind: 'signInExpired' };
  if (done === 'thenApp') {
    deps.metrics.signIns.inc({ way: 'email_code', outcome: 'second-factor-asked' });
    return { kind: 'thenApp', sessionToken: tokens.session };
  }
  deps.wake.mails();
  const { proof, ...device } = done;
  deps.metrics.signIns.inc({ way: wayOfProof[proof], outcome: 'signed-in' });
  return { kind: 'right', hasPage: hasPage(proof), ...device, sessionToken: tokens.session, rememberedToken };
}

const wayOfProof = {
  app: 'app',
  'app registered': 'app',
  'email code': 'email_code',
  'email registered': 'email_code',
  'recovery code': 'recovery_code',
} as const satisfies Record<Proof, string>;

/** After these there is something to read before the destination: the recovery codes, or how many are left. */
export function hasPage(proof: Proof): boolean {
  return proof === 'app registered' || proof === 'recovery code';
}

async function recordWrong(deps: Deps, request: VerifyRequest, half: HalfSession, tries: number): Promise<void> {
  const steps = [{ step: 'code', outcome: `try ${tries} of ${limits.codeTries}, ${half.factor}` }];
  await insertAuditEvent(deps.sql, { ...eventOf(half, request), event: 'code-refused', steps }, deps.now());
  const way = half.factor === 'app' ? 'app' : 'email_code';
  deps.metrics.signIns.inc({ way, outcome: 'code-refused' });
  if (tries < limits.codeTries) return;
  await insertAuditEvent(deps.sql, { ...eventOf(half, request), event: 'second-factor-ended' }, deps.now());
  deps.metrics.signIns.inc({ way, outcome: 'second-factor-ended' });
}

function eventOf({ userId, username, customers, connectionId }: HalfSession, { address, requestId }: VerifyRequest) {
  const way = connectionId === null ? {} : { connectionId };
  return { userId, username, ...customersOfEvent(customers), ...way, address, requestId };
}

function stepsOf(proof: Proof, rememberedToken: string | null): AuditStep[] {
  return [
    { step: 'second factor', outcome: proof },
    ...(rememberedToken ? [{ step: 'device', outcome: 'remembered' }] : []),
  ];
}
