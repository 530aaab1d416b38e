import type { AuditStep } from '../audit/audit-events.ts';
import { newToken, tokenHash } from '../secrets/token.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import type { Connection } from '../storage/database.ts';
import { type FreshProof, putFreshProof } from '../storage/fresh-proof.ts';
import { updateSessionToken } from '../storage/session.ts';
import { type AccountVisit, personOf } from './account-visit.ts';

/**
 * Notes what a session has proven, in the transaction of the check, and gives the session its next token, which is returned: an
 * earlier copy of its cookie gets nothing of the proof.
 */
export async function noteProof(
  sql: Connection,
  visit: AccountVisit,
  given: { kind: FreshProof['kind']; how: string; passkeyId?: string; steps?: AuditStep[] },
  now: Date,
): Promise<string> {
  const { kind, how, passkeyId = null, steps = [] } = given;
  const token = newToken();
  await updateSessionToken(sql, { before: visit.sessionHash, after: tokenHash(token), pressAt: null, now });
  await putFreshProof(sql, visit.session.id, { kind, at: now, passkeyId });
  const proof = { step: 'proof', outcome: how };
  await insertAuditEvent(sql, { event: 'fresh-proof-given', ...personOf(visit), steps: [...steps, proof] }, now);
  return token;
}
