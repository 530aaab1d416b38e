import { customersOfEvent } from '../audit/audit-events.ts';
import type { Deps } from '../deps/deps.ts';
import { queueMail } from '../mail/queue-mail.ts';
import { tokenHash } from '../secrets/token.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import { findFactorScope } from '../storage/factor-scope.ts';
import { findActiveUserForChange } from '../storage/portal-user.ts';
import { findShownRecoveryCodes } from '../storage/recovery-code.ts';
import { type FullSession, isSessionThereForUpdate, putProof, updateSessionToken } from '../storage/session.ts';
import { deleteThrottle } from '../storage/throttle.ts';
import { codeKey } from '../storage/throttle-keys.ts';
import { findPendingTotp } from '../storage/totp.ts';
import type { Who } from '../visitor/who.ts';
import { answerOfPress } from './answer-of-press.ts';
import { countTry, recordThrottledTry } from './count-try.ts';
import { tokensForAnswer } from './press.ts';
import { isFreshProof } from './registration.ts';
import { takeProof } from './take-proof.ts';
import { isTokenOfPress } from './token-of-press.ts';
import { hasPage, type VerifyRequest, type VerifyResult, verifyCode } from './verify-code.ts';

/**
 * Checks a code in any session: in a half one it completes the sign-in, in a recent full one it confirms the app that
 * its user is setting up voluntarily. In a full one that is older, or has proven less than is required now, the sign-in
 * is too old if an app was being set up. The second press of a button finds its session gone, and gets the answer of the
 * first; or the next one, if the browser took the cookies of that answer and dropped its page, which may hold codes to read.
 */
export async function verifyAny(deps: Deps, request: VerifyRequest, who: Who): Promise<VerifyResult> {
  const result = await verifyOnce(deps, request, who);
  if (result.kind !== 'signInExpired' || !request.isForm) return result;
  if (who.kind === 'full' && (await hasCodesToRead(deps, request, who.session))) return { kind: 'codesToRead' };
  return (await answerOfPress(deps, request)) ?? result;
}

/** Whether this browser set up an app moments ago in this session, and may still view the recovery codes of it. */
async function hasCodesToRead(deps: Deps, request: VerifyRequest, { id, userId }: FullSession): Promise<boolean> {
  const sessionHash = tokenHash(request.sessionToken);
  if (!isTokenOfPress(deps.keys, request.registrationToken, sessionHash)) return false;
  return (await findShownRecoveryCodes(deps.sql, { userId, sessionId: id, now: deps.now() })) !== null;
}

async function verifyOnce(deps: Deps, request: VerifyRequest, who: Who): Promise<VerifyResult> {
  if (who.kind === 'half') return await verifyCode(deps, request, who.half);
  if (who.kind !== 'full') return { kind: 'signInExpired' };
  const isEnough =
    isFreshProof(who.session, deps.now()) && (await findFactorScope(deps.sql, who.session.id)) !== 'signInAgain';
  if (isEnough) return await confirmOwnApp(deps, request, who.session);
  const wasSettingUp = await findPendingTotp(deps.sql, who.session.id);
  return { kind: wasSettingUp ? 'signInTooOld' : 'signInExpired' };
}

/** The session continues under another token; every other one of the user has ended. */
async function confirmOwnApp(deps: Deps, request: VerifyRequest, session: FullSession): Promise<VerifyResult> {
  const { userId, username } = session;
  const { address, requestId } = request;
  const customers = customersOfEvent(session.customers.map((key) => ({ key })));
  const way = session.connectionId === null ? {} : { connectionId: session.connectionId };
  const who = { userId, username, ...customers, ...way, address, requestId };
  const now = deps.now();
  const sessionHash = tokenHash(request.sessionToken);
  // Nothing is being set up: another tab has signed in meanwhile, so this one continues from the sign-in form.
  if (!(await findPendingTotp(deps.sql, session.id))) return { kind: 'signInExpired' };
  const counted = await countTry(deps, request, { hash: sessionHash, userId, way: session, stage: 'full' });
  if (counted.kind === 'usedUp') return { kind: 'signInExpired' };
  if (counted.kind === 'throttled') await recordThrottledTry(deps, who, session, counted);
  if (counted.kind !== 'counted') return counted;
  const asOfPress = { ...deps, now: () => counted.at };
  const tokens = tokensForAnswer(deps.keys, request);
  const nextSessionHash = tokenHash(tokens.session);
  const ids = { sessionId: session.id, nextSessionId: session.id, sessionHash };
  const prover = { userId, factor: 'app', mustRegister: true, ...ids, browser: request } as const;
  const proof = await deps.sql.begin(async (sql) => {
    // Read now: the email may have been replaced while the code was under way.
    const reader = await findActiveUserForChange(sql, userId);
    if (!reader) return null;
    // Signed out meanwhile: there is nobody to show recovery codes to.
    if (!(await isSessionThereForUpdate(sql, sessionHash))) return 'gone';
    const proof = await takeProof(asOfPress, sql, prover, request.code);
    if (!proof) return null;
    await updateSessionToken(sql, { before: sessionHash, after: nextSessionHash, pressAt: counted.at, now });
    await putProof(sql, session.id, 'code', now);
    await deleteThrottle(sql, codeKey(session));
    await queueMail(sql, reader, {
      kind: 'secondFactorAdded',
      now,
      address,
      language: request.language,
    });
    await insertAuditEvent(sql, { event: 'two-factor-registered', ...who }, now);
    return proof;
  });
  if (proof === 'gone') return { kind: 'signInExpired' };
  if (!proof) {
    const steps = [{ step: 'code', outcome: 'of an app being set up' }];
    if (!counted.isSamePress) await insertAuditEvent(deps.sql, { event: 'code-refused', ...who, steps }, now);
    return { kind: 'wrong', clockOffset: null, isLast: false, username };
  }
  deps.wake.mails();
  const deviceToken = request.deviceToken ?? tokens.device;
  const { connectionId } = session;
  return {
    kind: 'right',
    hasPage: hasPage(proof),
    sessionToken: tokens.session,
    deviceToken,
    rememberedToken: null,
    connectionId,
  };
}
