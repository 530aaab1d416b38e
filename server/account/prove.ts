import { isOneTimeCode } from '#contract/one-time-code.ts';
import { insertAuditEvent, insertEventOnceAMinute } from '../audit/audit-event.ts';
import type { Deps } from '../deps.ts';
import { takeProof } from '../factors/take-proof.ts';
import { countAttempt, deleteThrottle } from '../throttle/throttle.ts';
import { codeKey } from '../throttle/throttle-keys.ts';
import { type AccountVisit, personOf } from './account-visit.ts';
import { checkPassword } from './check-password.ts';
import { noteProof } from './note-proof.ts';
import { proofToAsk } from './proof-to-ask.ts';
import { proveByPasskey } from './prove-by-passkey.ts';
import { changeAccount, type Fields, type Outcome } from './section.ts';

/**
 * Takes the proof that a person is asked for, in the manner that is asked now, or by a passkey: each counts as at the sign-in.
 * It belongs to the session and lasts ten minutes.
 */
export async function prove(deps: Deps, visit: AccountVisit, fields: Fields): Promise<Outcome> {
  const asked = proofToAsk(visit, deps.now());
  // A page that was open when it was given in another tab.
  if (asked === null) return { kind: 'done', notice: 'proven' };
  if (fields.credential !== undefined) return await proveByPasskey(deps, visit, fields.credential);
  if (asked === 'signIn') return { kind: 'refused', notice: 'notPossible' };
  const entry = fields[asked] ?? '';
  if (entry === '') return { kind: 'refused', notice: 'entryMissing' };
  return asked === 'password' ? await proveByPassword(deps, visit, entry) : await proveByCode(deps, visit, entry);
}

async function proveByPassword(deps: Deps, visit: AccountVisit, entry: string): Promise<Outcome> {
  const checked = await checkPassword(deps, visit, entry, 'fresh-proof-refused');
  if (checked.kind === 'throttled') return checked;
  if (checked.kind === 'wrong') return { ...checked, kind: 'refused', notice: 'passwordWrong' };
  const now = deps.now();
  return await changeAccount(deps, visit, async (sql) => {
    const sessionToken = await noteProof(deps, sql, visit, { proof: 'password', given: entry }, now);
    return { kind: 'done', notice: 'proven', sessionToken };
  });
}

/** A code of the app, or a recovery code, counted with the codes of the sign-ins: of two posts with one code only one is right. */
async function proveByCode(deps: Deps, visit: AccountVisit, entry: string): Promise<Outcome> {
  const throttled = await countCode(deps, visit);
  if (throttled) return throttled;
  const { session } = visit;
  const digits = entry.replaceAll(' ', '');
  const code = isOneTimeCode(digits) ? digits : entry;
  const { userId } = session;
  const prover = { userId, sessionId: session.id, factor: 'app', mustRegister: false, browser: visit.visitor } as const;
  const now = deps.now();
  const outcome = await changeAccount(deps, visit, async (sql) => {
    const how = await takeProof(deps, sql, prover, code);
    if (!how) return { kind: 'refused', notice: 'codeWrong' };
    await deleteThrottle(sql, codeKey(session));
    const sessionToken = await noteProof(deps, sql, visit, { proof: 'code', how, given: entry }, now);
    return { kind: 'done', notice: 'proven', sessionToken };
  });
  return outcome.kind === 'refused' ? await wrongCode(deps, visit) : outcome;
}

/** Counts an attempt at a code before it is checked; null if it may be. */
export async function countCode(
  deps: Deps,
  visit: AccountVisit,
): Promise<Extract<Outcome, { kind: 'throttled' }> | null> {
  const now = deps.now();
  const key = codeKey(visit.session);
  const until = await countAttempt(deps.sql, [key], now);
  if (!until) return null;
  const event = { event: 'fresh-proof-refused', reason: 'throttled-code', ...personOf(visit) } as const;
  await insertEventOnceAMinute(deps.sql, event, `throttled:${key.key}`, now);
  return { kind: 'throttled', retryAfter: until.getTime() - now.getTime() };
}

export async function wrongCode(deps: Deps, visit: AccountVisit): Promise<Outcome> {
  const event = { event: 'fresh-proof-refused', reason: 'wrong-code', ...personOf(visit) } as const;
  await insertAuditEvent(deps.sql, event, deps.now());
  return { kind: 'refused', notice: 'codeWrong' };
}
