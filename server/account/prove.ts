import type { Deps } from '../deps/deps.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import { findFreshProof, type ProofKind, putFreshProof } from '../storage/fresh-proof.ts';
import type { AccountVisit } from './account-visit.ts';
import { checkCode } from './check-code.ts';
import { checkPassword } from './check-password.ts';
import { personOf } from './person-of-event.ts';
import { proofToAsk } from './proof-to-ask.ts';
import type { Fields, Outcome } from './section.ts';

/**
 * Takes the proof that a person is asked for, in the manner that is asked now: a password and a code count as at the sign-in.
 * It belongs to the session and lasts ten minutes (docs/decisions/0051).
 */
export async function prove(deps: Deps, visit: AccountVisit, fields: Fields): Promise<Outcome> {
  const asked = proofToAsk(visit, deps.now());
  // The second press of a button, or a page that was open when it was given in another tab.
  if (asked === null) return { kind: 'done', notice: 'proven' };
  if (asked === 'signIn') return { kind: 'refused', notice: 'notPossible' };
  const entry = fields[asked] ?? '';
  if (entry === '') return { kind: 'refused', notice: 'entryMissing' };
  const checked =
    asked === 'password'
      ? await checkPassword(deps, visit, entry, 'fresh-proof-refused')
      : await checkCode(deps, visit, entry);
  if (checked.kind === 'throttled') return checked;
  if (checked.kind === 'wrong') {
    // Of two presses of the button one has used the code up.
    const proof = await findFreshProof(deps.sql, visit.sessionHash);
    if (proofToAsk({ ...visit, proof }, deps.now()) === null) return { kind: 'done', notice: 'proven' };
    return { kind: 'refused', notice: asked === 'password' ? 'passwordWrong' : 'codeWrong' };
  }
  return (await note(deps, visit, asked)) ? { kind: 'done', notice: 'proven' } : { kind: 'signedOut' };
}

async function note(deps: Deps, visit: AccountVisit, kind: ProofKind): Promise<boolean> {
  const now = deps.now();
  if (!(await putFreshProof(deps.sql, visit.sessionHash, { kind, at: now }))) return false;
  const steps = [{ step: 'proof', outcome: kind }];
  await insertAuditEvent(deps.sql, { event: 'fresh-proof-given', ...personOf(visit), steps }, now);
  return true;
}
