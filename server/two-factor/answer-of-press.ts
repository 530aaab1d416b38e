import { isOneTimeCode } from '#contract/one-time-code.ts';
import type { Deps } from '../deps/deps.ts';
import { limits } from '../limits.ts';
import { tokenHash } from '../secrets/token.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import { findOpenedByPressForUpdate, findSessionOfPress, type SessionOfPress } from '../storage/code-try.ts';
import type { Connection } from '../storage/database.ts';
import { RollBack } from '../storage/database.ts';
import { countAttempt } from '../storage/throttle.ts';
import { codeKey } from '../storage/throttle-keys.ts';
import { whoHas } from '../visitor/who.ts';
import { type TokensOfPress, tokensOfPress } from './press.ts';
import type { VerifyRequest, VerifyResult } from './verify-code.ts';

/**
 * The answer that the first press of this button got, for a browser that dropped it or lost it on the way: the same
 * session, by the same tokens, while that session is alive and the press was moments ago (docs/decisions/0028, 0047).
 * Null if there is none. Another code is a guess, and counts for the account as any wrong one.
 */
export async function answerOfPress(
  deps: Deps,
  request: VerifyRequest,
): Promise<Extract<VerifyResult, { kind: 'right' | 'thenApp' }> | null> {
  const found = await deps.sql.begin((sql) => find(deps, sql, request));
  if (!found) return null;
  const { opened, tokens } = found;
  if ((await whoHas(deps, tokens.session, request.address)).kind === 'ended') return null;
  if (opened.stage === 'half') return { kind: 'thenApp', sessionToken: tokens.session };
  return {
    kind: 'right',
    hasPage: opened.showsRecoveryCodes || !isOneTimeCode(request.code),
    sessionToken: tokens.session,
    deviceToken: opened.hasNewDevice ? tokens.device : (request.deviceToken ?? tokens.device),
    rememberedToken: opened.isRemembered ? tokens.remembered : null,
    connectionId: opened.connectionId,
  };
}

type Found = { opened: SessionOfPress; tokens: TokensOfPress };

/** Counts the attempt before the check, and not at all if the code is right. */
async function find(deps: Deps, sql: Connection, request: VerifyRequest): Promise<RollBack<Found> | null> {
  const now = deps.now();
  const since = new Date(now.getTime() - (request.isForm ? limits.sameCodePress : limits.responseUnread));
  const former = tokenHash(request.sessionToken);
  const person = await findOpenedByPressForUpdate(sql, former, since);
  if (!person || (await countAttempt(sql, [codeKey(person)], now))) return null;
  for (const key of deps.keys.code) {
    const tokens = tokensOfPress(key, request);
    const hashes = {
      former,
      session: tokenHash(tokens.session),
      device: tokenHash(tokens.device),
      remembered: tokenHash(tokens.remembered),
    };
    const opened = await findSessionOfPress(sql, hashes, { since, now });
    if (opened) return new RollBack({ opened, tokens });
  }
  const { userId, username } = person;
  const { address, requestId } = request;
  const steps = [{ step: 'code', outcome: 'after the right one' }];
  await insertAuditEvent(sql, { event: 'code-refused', userId, username, address, requestId, steps }, now);
  return null;
}
