import type { AskedProof } from '#contract/account.ts';
import { insertAuditEvent } from '../audit/audit-event.ts';
import { tokenHash } from '../crypto/token.ts';
import type { Connection } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { isFreshProof } from '../factors/may-change-factors.ts';
import { takeProof } from '../factors/take-proof.ts';
import { nextToken, type ProofOfSession, updateSessionToken } from '../sessions/session.ts';
import { deleteThrottles } from '../throttle/throttle.ts';
import { codeKey } from '../throttle/throttle-keys.ts';
import { type AccountVisit, personOf } from './account-visit.ts';
import { checkPassword } from './check-password.ts';
import { changeAccount, countBefore, type Fields, type Outcome, type Throttled } from './section.ts';

/**
 * What a person has to prove before they change how they sign in; null if their session has proven it within ten minutes, at
 * its sign-in or since. With an app it is a code, since a password alone must not replace the second factor. A sign-in by
 * passkey counts as a code, unless the app guards a customer that takes no passkeys.
 */
export function proofToAsk(
  { session, account }: Pick<AccountVisit, 'session' | 'account'>,
  now: Date,
): AskedProof | null {
  const { proof } = session;
  const isFresh = isFreshProof(session, now);
  if (account.hasApp) {
    const countsAsCode = proof === 'code' || (proof === 'passkey' && !account.isPasskeyUntaken);
    return isFresh && countsAsCode ? null : 'code';
  }
  if (isFresh) return null;
  // Typed again, the password adds to the account only where nothing else was asked for beside it.
  return account.hasPassword && proof === 'password' && !account.isEmailFirst ? 'password' : 'signIn';
}

/** Takes the proof that is asked for now, counted as at the sign-in. It belongs to the session and lasts ten minutes. */
export async function prove(deps: Deps, visit: AccountVisit, fields: Fields): Promise<Outcome> {
  const asked = proofToAsk(visit, deps.now());
  // A page that was open when it was given in another tab.
  if (asked === null) return { kind: 'done', notice: 'proven' };
  if (asked === 'signIn') return { kind: 'refused', notice: 'notPossible' };
  const entry = fields[asked] ?? '';
  if (entry === '') return { kind: 'refused', notice: 'entryMissing' };
  return asked === 'password' ? await proveByPassword(deps, visit, entry) : await proveByCode(deps, visit, entry);
}

async function proveByPassword(deps: Deps, visit: AccountVisit, entry: string): Promise<Outcome> {
  const checked = await checkPassword(deps, visit, entry, 'fresh-proof-refused');
  if (checked.kind === 'throttled') return checked;
  if (checked.kind === 'wrong') return { kind: 'refused', notice: 'passwordWrong' };
  return await changeAccount(deps, visit, async (sql) => {
    const sessionToken = await noteProof(deps, sql, visit, { proof: 'password', given: entry });
    return { kind: 'done', notice: 'proven', sessionToken };
  });
}

/** A code of the app, or a recovery code, counted with the codes of the sign-ins: of two posts with one code only one is right. */
async function proveByCode(deps: Deps, visit: AccountVisit, entry: string): Promise<Outcome> {
  const throttled = await countCode(deps, visit);
  if (throttled) return throttled;
  const { session } = visit;
  const { userId } = session;
  const prover = { userId, sessionId: session.id, factor: 'app', mustRegister: false, browser: visit.visitor } as const;
  const outcome = await changeAccount(deps, visit, async (sql) => {
    const how = await takeProof(deps, sql, prover, entry);
    if (!how) return { kind: 'refused', notice: 'codeWrong' };
    await deleteThrottles(sql, [codeKey(session)]);
    const sessionToken = await noteProof(deps, sql, visit, { proof: 'code', how, given: entry });
    return { kind: 'done', notice: 'proven', sessionToken };
  });
  return outcome.kind === 'refused' ? await wrongCode(deps, visit) : outcome;
}

/** Counts an attempt at a code before it is checked; null if it may be. */
export async function countCode(deps: Deps, visit: AccountVisit): Promise<Throttled | null> {
  const refused = { event: 'fresh-proof-refused', reason: 'throttled-code' } as const;
  return await countBefore(deps, visit, codeKey(visit.session), refused);
}

export async function wrongCode(deps: Deps, visit: AccountVisit): Promise<Outcome> {
  const event = { event: 'fresh-proof-refused', reason: 'wrong-code', ...personOf(visit) } as const;
  await insertAuditEvent(deps.sql, event, deps.now());
  return { kind: 'refused', notice: 'codeWrong' };
}

/** Notes what a session has proven and returns its next token: an earlier copy of the cookie gets nothing of it. */
async function noteProof(
  deps: Deps,
  sql: Connection,
  visit: AccountVisit,
  { proof, given, how = proof }: { proof: ProofOfSession; given: string; how?: string },
): Promise<string> {
  const now = deps.now();
  const token = nextToken(deps, { token: visit.sessionToken, given });
  await updateSessionToken(sql, { before: visit.sessionHash, after: tokenHash(token), proof, now });
  const steps = [{ step: 'proof', outcome: how }];
  await insertAuditEvent(sql, { event: 'fresh-proof-given', ...personOf(visit), steps }, now);
  return token;
}
