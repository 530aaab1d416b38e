import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AskedProof } from '#contract/account.ts';
import { insertAuditEvent } from '../audit/audit-event.ts';
import type { AuditStep } from '../audit/audit-events.ts';
import { tokenHash } from '../crypto/token.ts';
import type { Connection } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { isFreshProof } from '../factors/may-change-factors.ts';
import { hasPasskey } from '../factors/passkey.ts';
import {
  beginCeremony,
  browserToBegin,
  optionsOfSignIn,
  refusePasskey,
  waitOfPasskeys,
} from '../factors/passkey-ceremony.ts';
import { type RefusedPasskey, takePasskey } from '../factors/take-passkey.ts';
import { takeProof } from '../factors/take-proof.ts';
import { sendProblem } from '../http/refuse.ts';
import { canOpenByPasskey } from '../people/sign-in-user.ts';
import { nextToken, type ProofOfSession, putProof, updateSessionToken } from '../sessions/session.ts';
import { visitorOf } from '../sessions/visitor.ts';
import { deleteThrottles } from '../throttle/throttle.ts';
import { codeKey } from '../throttle/throttle-keys.ts';
import { type AccountVisit, accountVisitOf, personForChange, personOf } from './account-visit.ts';
import { checkPassword } from './check-password.ts';
import { changeAccount, countBefore, type Fields, type Outcome, type Throttled } from './section.ts';

/**
 * What a person has to prove before they change how they sign in; null if their session has proven it within ten minutes, at
 * its sign-in or since. With an app it is a code, since a password alone must not replace the second factor. A passkey counts
 * as a code, unless the app guards a customer that takes no passkeys.
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

/**
 * Whether a passkey may stand for what is asked: the account must have one that would open it. An app is not replaced by a
 * passkey if it guards a customer that takes none. Before the first app, a person with a password signs in again instead where
 * codes by email come first or a remembered device opened the session: what follows asks how the session began.
 */
export async function mayProveByPasskey(
  { sql, config }: Pick<Deps, 'sql' | 'config'>,
  { session, account }: AccountVisit,
): Promise<boolean> {
  const rp = config.passkeys;
  if (!rp || account.isPart) return false;
  if (
    account.hasApp
      ? account.isPasskeyUntaken
      : account.hasPassword && (account.isEmailFirst || session.proof === 'remembered')
  )
    return false;
  return (
    (await hasPasskey(sql, { userId: session.userId, rpId: rp.id })) && (await canOpenByPasskey(sql, session.userId))
  );
}

/**
 * Whether the person is signed in by what signs in no more: only passkeys do, and none of theirs works. Signed out, they would
 * need an invitation to come back.
 */
export async function needsInvitation(
  { sql, config }: Pick<Deps, 'sql' | 'config'>,
  { session: { userId }, account }: AccountVisit,
): Promise<boolean> {
  if (!account.isByPasskey || account.provider !== null) return false;
  const rpId = config.passkeys?.id;
  return rpId === undefined || !(await hasPasskey(sql, { userId, rpId }));
}

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

/**
 * `POST passkeys/prove/options`: begins a proof by passkey for a session that is asked for one; 401 or 409 otherwise. It names no
 * passkey.
 */
export function passkeyProofOptionsRoute(deps: Deps) {
  const rp = deps.config.passkeys;

  return async function passkeyProofOptions(request: FastifyRequest, reply: FastifyReply) {
    if (!rp) return sendProblem(reply, 404);
    const visitor = visitorOf(deps, request);
    const visit = await accountVisitOf(deps, visitor);
    if (!visit) return sendProblem(reply, 401);
    if (proofToAsk(visit, deps.now()) === null || !(await mayProveByPasskey(deps, visit)))
      return sendProblem(reply, 409);
    const browserToken = await browserToBegin(deps, request, reply, visitor);
    if (browserToken === null) return reply;
    const challenge = await beginCeremony(deps, { purpose: 'prove', browserToken, owner: visit.session.id });
    return reply.send(optionsOfSignIn(challenge, rp.id));
  };
}

type Proven = { kind: 'right'; sessionToken: string } | { kind: 'signedOut' } | RefusedPasskey;

/**
 * Takes a passkey of the person for a proof: one that would sign them in from here, by the checks of a sign-in. The challenge
 * belongs to this session and browser, and is spent by the first answer.
 */
async function proveByPasskey(deps: Deps, visit: AccountVisit, answer: string): Promise<Outcome> {
  if (!deps.config.passkeys || !(await mayProveByPasskey(deps, visit)))
    return { kind: 'refused', notice: 'notPossible' };
  const { visitor, session } = visit;
  const user = { id: session.userId, username: session.username, customers: session.customers.map((key) => ({ key })) };
  const wait = await waitOfPasskeys(deps, visitor, user, 'fresh-proof-refused');
  if (wait) return { kind: 'throttled', retryAfter: wait.retryAfter };
  const steps: AuditStep[] = [];
  const done = await checkPasskey(deps, visit, answer, steps);
  if (done.kind === 'right') return { kind: 'done', notice: 'proven', sessionToken: done.sessionToken };
  if (done.kind === 'signedOut') return done;
  const refused = { event: 'fresh-proof-refused', reason: done.reason, steps, user } as const;
  const reference = await refusePasskey(deps, visitor, refused);
  return { kind: 'refused', notice: 'passkeyProofRefused', reference };
}

/** All or nothing, but for the challenge; what could not open the account proves nothing for it. */
async function checkPasskey(deps: Deps, visit: AccountVisit, answer: string, steps: AuditStep[]): Promise<Proven> {
  const { address, passkeyToken: browserToken } = visit.visitor;
  const { id: owner, userId } = visit.session;
  return await deps.sql.begin(async (sql): Promise<Proven> => {
    if (!(await personForChange(sql, visit))) return { kind: 'signedOut' };
    const given = { purpose: 'prove', browserToken, owner, answer, address, userId } as const;
    const taken = await takePasskey(deps, sql, given, steps);
    if (taken.kind === 'refused') return taken;
    const proof = { proof: 'passkey', given: answer, steps } as const;
    return { kind: 'right', sessionToken: await noteProof(deps, sql, visit, proof) };
  });
}

/**
 * Notes what a session has proven, in the transaction of the check, and gives the session its next token, which is returned: an
 * earlier copy of its cookie gets nothing of the proof.
 */
async function noteProof(
  deps: Deps,
  sql: Connection,
  visit: AccountVisit,
  {
    proof,
    given,
    how = proof,
    steps = [],
  }: { proof: ProofOfSession; given: string; how?: string; steps?: AuditStep[] },
): Promise<string> {
  const now = deps.now();
  const token = nextToken(deps, { token: visit.sessionToken, given });
  await updateSessionToken(sql, { before: visit.sessionHash, after: tokenHash(token), now });
  await putProof(sql, visit.session.id, proof, now);
  const last = { step: 'proof', outcome: how };
  await insertAuditEvent(sql, { event: 'fresh-proof-given', ...personOf(visit), steps: [...steps, last] }, now);
  return token;
}
