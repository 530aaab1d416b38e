import { insertAuditEvent } from '../audit/audit-event.ts';
import type { AuditStep } from '../audit/audit-events.ts';
import { tokenHash } from '../crypto/token.ts';
import type { Connection } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { nextToken, type ProofOfSession, putProof, updateSessionToken } from '../sessions/session.ts';
import { type AccountVisit, personOf } from './account-visit.ts';

/**
 * Notes what a session has proven, in the transaction of the check, and gives the session its next token, which is returned: an
 * earlier copy of its cookie gets nothing of the proof.
 */
export async function noteProof(
  deps: Deps,
  sql: Connection,
  visit: AccountVisit,
  {
    proof,
    given,
    how = proof,
    steps = [],
  }: { proof: ProofOfSession; given: string; how?: string; steps?: AuditStep[] },
  now: Date,
): Promise<string> {
  const token = nextToken(deps, { token: visit.sessionToken, given });
  await updateSessionToken(sql, { before: visit.sessionHash, after: tokenHash(token), now });
  await putProof(sql, visit.session.id, proof, now);
  const last = { step: 'proof', outcome: how };
  await insertAuditEvent(sql, { event: 'fresh-proof-given', ...personOf(visit), steps: [...steps, last] }, now);
  return token;
}
