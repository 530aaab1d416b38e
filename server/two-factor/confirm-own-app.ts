import { customersOfEvent } from '../audit/audit-events.ts';
import type { Deps } from '../deps/deps.ts';
import { placeOfVisitor, queueMail } from '../mail/queue-mail.ts';
import { tokenHash } from '../secrets/token.ts';
import { nextToken } from '../session/next-token.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import { findActiveUserForChange } from '../storage/portal-user.ts';
import { type FullSession, isSessionThereForUpdate, putProof, updateSessionToken } from '../storage/session.ts';
import { deleteThrottle } from '../storage/throttle.ts';
import { codeKey } from '../storage/throttle-keys.ts';
import { countTryOfAccount, recordThrottledTry } from './count-try.ts';
import { findMayChangeFactors } from './may-change-factors.ts';
import { findPendingSecret } from './pending-secret.ts';
import { takeProof } from './take-proof.ts';
import type { VerifyRequest, VerifyResult } from './verify-result.ts';

/** Confirms the app that somebody who is signed in sets up. The session continues under another token; lesser ones end. */
export async function confirmOwnApp(deps: Deps, request: VerifyRequest, session: FullSession): Promise<VerifyResult> {
  const { id: sessionId, userId, username, connectionId } = session;
  const { address, requestId } = request;
  // Nothing is being set up: another tab has signed in meanwhile.
  if (!(await findPendingSecret(deps, deps.sql, { userId, sessionId, browser: request })))
    return { kind: 'signInExpired' };
  if ((await findMayChangeFactors(deps, deps.sql, sessionId)) === 'signInAgain') return { kind: 'signInTooOld' };
  const customers = customersOfEvent(session.customers.map((key) => ({ key })));
  const who = { userId, username, ...customers, ...(connectionId !== null && { connectionId }), address, requestId };
  const counted = await countTryOfAccount(deps, session);
  if (counted.kind === 'throttled') {
    await recordThrottledTry(deps, who, session, counted);
    return counted;
  }
  const now = deps.now();
  const sessionHash = tokenHash(request.sessionToken);
  const sessionToken = nextToken(deps, { token: request.sessionToken, given: request.given });
  const proof = await deps.sql.begin(async (sql) => {
    const reader = await findActiveUserForChange(sql, userId);
    // Signed out meanwhile: there is nobody to show recovery codes to.
    if (!reader || !(await isSessionThereForUpdate(sql, sessionHash))) return 'gone';
    const prover = { userId, sessionId, factor: 'app', mustRegister: true, browser: request } as const;
    const proof = await takeProof(deps, sql, prover, request.given);
    if (!proof) return null;
    await updateSessionToken(sql, { before: sessionHash, after: tokenHash(sessionToken), now });
    await putProof(sql, sessionId, 'code', now);
    await deleteThrottle(sql, codeKey(session));
    await queueMail(sql, reader, { kind: 'secondFactorAdded', now, ...placeOfVisitor(request) });
    await insertAuditEvent(sql, { event: 'two-factor-registered', ...who }, now);
    return proof;
  });
  if (proof === 'gone') return { kind: 'signInExpired' };
  if (!proof) {
    const steps = [{ step: 'code', outcome: 'of an app being set up' }];
    await insertAuditEvent(deps.sql, { event: 'code-refused', ...who, steps }, now);
    return { kind: 'wrong', isLast: false, username };
  }
  deps.wake.mails();
  return { kind: 'right', hasPage: true, sessionToken, deviceToken: null, rememberedToken: null, connectionId };
}
