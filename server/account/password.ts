import { type ChangeFailedReason, changeFailedReasons } from '#contract/reasons.ts';
import { insertAuditEvent, insertEventOnceAMinute } from '../audit/audit-event.ts';
import { hashPassword } from '../crypto/password-hash.ts';
import { tokenHash } from '../crypto/token.ts';
import type { Deps } from '../deps.ts';
import { putDevice } from '../factors/devices.ts';
import { listKeysOfCustomers } from '../people/customer.ts';
import { updatePasswordHash } from '../people/portal-user.ts';
import { nextToken, updateSessionToken } from '../sessions/session.ts';
import { passwordReplaced, queuePasswordNotice, wasUsedBefore } from '../sign-in/change-password.ts';
import { newPasswordProblem, newPasswordRules } from '../sign-in/new-password.ts';
import { networkOf } from '../throttle/throttle-keys.ts';
import { type AccountVisit, personOf } from './account-visit.ts';
import { checkPassword } from './check-password.ts';
import { changeAccount, countChange, type Fields, type Outcome, type Section } from './section.ts';

/** The current password is its own proof, asked each time. */
export const password: Section = {
  name: 'password',
  kept: [],
  view: async (_deps, visit) => ({ name: 'password', username: visit.session.username, state: stateOfPassword(visit) }),
  actions: { change: { needsProof: false, run: change } },
};

/** Whether the password can be changed here, or why not. */
export function stateOfPassword({ account }: AccountVisit): 'open' | 'none' | 'forbidden' | 'part' {
  if (account.isPart) return 'part';
  if (!account.hasPassword) return 'none';
  return account.mayChangePassword ? 'open' : 'forbidden';
}

/**
 * Replaces the password of a signed-in person who knows the current one, by the rules of a reset. Every other session ends,
 * this one goes on under another token. The new entries are judged first: a wrong one costs no attempt. Former passwords come
 * last: only who knows the current one may try what they were.
 */
async function change(deps: Deps, visit: AccountVisit, fields: Fields): Promise<Outcome> {
  const { current = '', password = '', repeat = '' } = fields;
  if (stateOfPassword(visit) !== 'open') return { kind: 'refused', notice: 'notPossible' };
  if (current === '') return { kind: 'refused', notice: 'entryMissing' };
  const { userId: id, username, email } = visit.session;
  const customers = await listKeysOfCustomers(deps.sql, id);
  const rules = await newPasswordRules(deps.sql, deps.config, { username, email, customers });
  const problem = newPasswordProblem(password, repeat, rules);
  if (problem) return await refused(deps, visit, problem.reason, problem.words.join('; '));
  const checked = await checkPassword(deps, visit, current, 'password-change-refused');
  if (checked.kind === 'throttled') return checked;
  if (checked.kind === 'wrong') return { kind: 'refused', notice: 'passwordWrong' };
  // Each of them costs up to eleven hashes.
  const throttled = await countChange(deps, visit, 'password');
  if (throttled) return throttled;
  const network = networkOf(visit.visitor.address);
  if (await wasUsedBefore(deps.sql, { id, passwordHash: checked.hash }, password, network))
    return await refused(deps, visit, changeFailedReasons.usedBefore, 'it is one of the last ten');
  return await store(deps, visit, { current, before: checked.hash, after: await hashPassword(password, network) });
}

/** All or nothing. This session goes on under its next token, and its browser stays known. */
async function store(
  deps: Deps,
  visit: AccountVisit,
  { current, before, after }: { current: string; before: string; after: string },
): Promise<Outcome> {
  const { visitor, session, sessionHash } = visit;
  const { userId } = session;
  const now = deps.now();
  return await changeAccount(deps, visit, async (sql, person) => {
    if (!(await updatePasswordHash(sql, userId, before, after))) return { kind: 'refused', notice: 'changedMeanwhile' };
    const sessionsEnded = await passwordReplaced(sql, userId, { hashBefore: before, now, kept: session.id });
    const { deviceToken } = await putDevice(sql, visitor.deviceToken, { userId, byPassword: true, now });
    const sessionToken = nextToken(deps, { token: visit.sessionToken, given: current });
    await updateSessionToken(sql, { before: sessionHash, after: tokenHash(sessionToken), now });
    const { address, language } = visitor;
    await queuePasswordNotice(sql, person, { now, address, language });
    const steps = [
      { step: 'where', outcome: 'the account page' },
      { step: 'sessions ended', outcome: String(sessionsEnded) },
    ];
    await insertAuditEvent(sql, { event: 'password-changed', ...personOf(visit), steps }, now);
    return { kind: 'done', notice: 'passwordChanged', sessionToken, deviceToken };
  });
}

async function refused(deps: Deps, visit: AccountVisit, reason: ChangeFailedReason, problem: string): Promise<Outcome> {
  const steps = [
    { step: 'where', outcome: 'the account page' },
    { step: 'new password', outcome: problem },
  ];
  const event = { event: 'password-change-refused', reason: String(reason), ...personOf(visit), steps } as const;
  const under = `new-password:${reason}:${visit.session.userId}`;
  const reference = await insertEventOnceAMinute(deps.sql, event, under, deps.now());
  return { kind: 'refused', notice: 'passwordRefused', reason, reference };
}
