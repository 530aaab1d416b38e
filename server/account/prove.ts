import type { AuditStep } from '../audit/audit-events.ts';
import type { Deps } from '../deps/deps.ts';
import { tokenHash } from '../secrets/token.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import type { Connection } from '../storage/database.ts';
import { type ProofKind, putFreshProof } from '../storage/fresh-proof.ts';
import type { AccountVisit } from './account-visit.ts';
import { checkCode } from './check-code.ts';
import { checkPassword } from './check-password.ts';
import { personForChange } from './person-for-change.ts';
import { personOf } from './person-of-event.ts';
import { nextToken } from './press.ts';
import { proofToAsk } from './proof-to-ask.ts';
import { proveByPasskey } from './prove-by-passkey.ts';
import { rotateSession } from './rotate-session.ts';
import type { Fields, Outcome } from './section.ts';

/**
 * Takes the proof that a person is asked for, in the manner that is asked now, or by a passkey: each counts as at the sign-in.
 * It belongs to the session and lasts ten minutes (docs/decisions/0051). The session goes on under another token, so that a
 * copy of its cookie, which may have waited for this, gets nothing of it.
 */
export async function prove(deps: Deps, visit: AccountVisit, fields: Fields): Promise<Outcome> {
  const asked = proofToAsk(visit, deps.now());
  // A page that was open when it was given in another tab.
  if (asked === null) return { kind: 'done', notice: 'proven' };
  const token = nextToken(deps, { visitor: visit.visitor, fields });
  if (fields.credential !== undefined)
    return await proveByPasskey(deps, visit, { answer: fields.credential, token }, (sql, { passkeyId, steps }) =>
      note(deps, sql, visit, { kind: 'code', how: 'passkey', token, passkeyId, steps }),
    );
  if (asked === 'signIn') return { kind: 'refused', notice: 'notPossible' };
  const entry = fields[asked] ?? '';
  if (entry === '') return { kind: 'refused', notice: 'entryMissing' };
  const checked =
    asked === 'password'
      ? await byPassword(deps, visit, entry, token)
      : await checkCode(deps, visit, entry, (sql, proof) =>
          note(deps, sql, visit, { kind: 'code', how: proof, token }),
        );
  switch (checked.kind) {
    case 'right':
      return { kind: 'done', notice: 'proven', sessionToken: token };
    case 'wrong':
      return { ...checked, kind: 'refused', notice: asked === 'password' ? 'passwordWrong' : 'codeWrong' };
    default:
      return checked;
  }
}

async function byPassword(deps: Deps, visit: AccountVisit, entry: string, token: string) {
  const checked = await checkPassword(deps, visit, entry, 'fresh-proof-refused');
  if (checked.kind !== 'right') return checked;
  const isThere = await deps.sql.begin(async (sql) => {
    if (!(await personForChange(sql, visit, deps.now()))) return false;
    await note(deps, sql, visit, { kind: 'password', how: 'password', token });
    return true;
  });
  return isThere ? checked : ({ kind: 'signedOut' } as const);
}

/** In the transaction of the check: a code that is used up has always proven something. */
async function note(
  deps: Deps,
  sql: Connection,
  visit: AccountVisit,
  {
    kind,
    how,
    token,
    passkeyId = null,
    steps = [],
  }: {
    kind: ProofKind;
    how: string;
    token: string;
    passkeyId?: string | null;
    steps?: AuditStep[];
  },
): Promise<void> {
  const now = deps.now();
  await rotateSession(sql, visit, { token, now });
  await putFreshProof(sql, tokenHash(token), { kind, at: now, passkeyId });
  const proof = { step: 'proof', outcome: how };
  await insertAuditEvent(sql, { event: 'fresh-proof-given', ...personOf(visit), steps: [...steps, proof] }, now);
}
