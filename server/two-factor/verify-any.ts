import type { Deps } from '../deps.ts';
import { queueMail } from '../mail/queue-mail.ts';
import { newToken, tokenHash } from '../secrets/token.ts';
import { sessionOfToken } from '../session/session.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import { isUserActiveForChange } from '../storage/portal-user.ts';
import { isSessionThereForUpdate, type SessionRow, updateSessionToken } from '../storage/session.ts';
import { countAttempt, deleteThrottle } from '../storage/throttle.ts';
import { findPendingTotp } from '../storage/totp.ts';
import { codeKey } from '../throttle/throttle-keys.ts';
import { isFreshSignIn } from './registration.ts';
import { takeProof } from './take-proof.ts';
import { type VerifyRequest, type VerifyResult, verifyCode } from './verify-code.ts';

/**
 * Checks a code in any session: in a half one it completes the sign-in, in a recent full one it confirms the app that
 * its user sets up voluntarily. In an older one where that has begun, it reports that it is too late.
 */
export async function verifyAny(deps: Deps, request: VerifyRequest): Promise<VerifyResult> {
  const session = await sessionOfToken(deps, request.sessionToken, request.address);
  const isYoung = session && isFreshSignIn(session, deps.now());
  if (session?.stage !== 'full') return await verifyCode(deps, request);
  if (isYoung) return await confirmOwnApp(deps, request, session);
  const wasSettingUp = await findPendingTotp(deps.sql, tokenHash(request.sessionToken));
  return { kind: wasSettingUp ? 'signInTooOld' : 'signInExpired' };
}

/** The session continues under another token; every other one of the user has ended. */
async function confirmOwnApp(deps: Deps, request: VerifyRequest, session: SessionRow): Promise<VerifyResult> {
  const { userId, username, email, language } = session;
  const { address, requestId } = request;
  const who = { userId, username, address, requestId };
  const now = deps.now();
  const sessionHash = tokenHash(request.sessionToken);
  // Nothing is being set up: another tab has signed in meanwhile, so this one continues from the sign-in form.
  if (!(await findPendingTotp(deps.sql, sessionHash))) return { kind: 'signInExpired' };
  const until = await countAttempt(deps.sql, [codeKey(session)], now);
  if (until) return { kind: 'throttled', retryAfter: until.getTime() - now.getTime() };
  const sessionToken = newToken();
  const nextSessionHash = tokenHash(sessionToken);
  const prover = { userId, factor: 'app', mustRegister: true, sessionHash, nextSessionHash } as const;
  const proof = await deps.sql.begin(async (sql) => {
    if (!(await isUserActiveForChange(sql, userId))) return null;
    // Signed out meanwhile: there is nobody to show recovery codes to.
    if (!(await isSessionThereForUpdate(sql, sessionHash))) return 'gone';
    const proof = await takeProof(deps, sql, prover, request.code);
    if (!proof) return null;
    await updateSessionToken(sql, sessionHash, nextSessionHash);
    await deleteThrottle(sql, codeKey(session));
    await queueMail(
      sql,
      { id: userId, username, email, language },
      { kind: 'secondFactorAdded', now, address, language: request.language },
    );
    await insertAuditEvent(sql, { event: 'two-factor-registered', ...who }, now);
    return proof;
  });
  if (proof === 'gone') return { kind: 'signInExpired' };
  if (!proof) {
    const steps = [{ step: 'code', outcome: 'of an app being set up' }];
    await insertAuditEvent(deps.sql, { event: 'code-refused', ...who, steps }, now);
    return { kind: 'wrong', clockOffset: null, isLast: false, username };
  }
  deps.wake.mails();
  const deviceToken = request.deviceToken ?? newToken();
  const { connectionId } = session;
  return { kind: 'right', proof, sessionToken, deviceToken, rememberedToken: null, connectionId };
}
