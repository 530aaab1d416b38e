import { type ChangeFailedReason, changeFailedReasons } from '#contract/reasons.ts';
import type { Deps } from '../deps/deps.ts';
import { wasUsedBefore } from '../password/change-password.ts';
import { newPasswordProblem } from '../password/new-password-problem.ts';
import { newPasswordProblemsInWords } from '../password/new-password-problems-in-words.ts';
import { newPasswordRules } from '../password/new-password-rules.ts';
import { passwordReplaced, queuePasswordNotice } from '../password/password-replaced.ts';
import { hashPassword } from '../secrets/password-hash.ts';
import { tokenHash } from '../secrets/token.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import { putDevice } from '../storage/device.ts';
import { listKeysOfCustomers } from '../storage/keys-of-customers.ts';
import { findActiveUserForChange, updatePasswordHash } from '../storage/portal-user.ts';
import { isSessionThereForUpdate, updateSessionToken } from '../storage/session.ts';
import { deletePendingTotp } from '../storage/totp.ts';
import { RollBack, transaction } from '../storage/transaction.ts';
import type { AccountVisit } from './account-visit.ts';
import { checkPassword } from './check-password.ts';
import { nextToken, tokenOfFirstPress } from './next-token.ts';
import { personOf } from './person-of-event.ts';
import type { Fields, Outcome, Section } from './section.ts';

/** The current password is its own proof, asked each time. */
export const password: Section = {
  name: 'password',
  kept: [],
  view: async (_deps, visit) => ({ name: 'password', username: visit.session.username, state: stateOf(visit) }),
  actions: { change: { needsProof: false, run: change } },
  again,
};

function stateOf({ account }: AccountVisit): 'open' | 'none' | 'forbidden' | 'part' {
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
  if (stateOf(visit) !== 'open') return { kind: 'refused', notice: 'notPossible' };
  if (current === '') return { kind: 'refused', notice: 'entryMissing' };
  const { userId: id, username, email } = visit.session;
  const customers = await listKeysOfCustomers(deps.sql, id);
  const rules = await newPasswordRules(deps.sql, deps.config, { username, email, customers });
  const problem = newPasswordProblem(password, repeat, rules);
  if (problem)
    return await refused(deps, visit, problem, newPasswordProblemsInWords(password, repeat, rules).join('; '));
  const checked = await checkPassword(deps, visit, current, 'password-change-refused');
  if (checked.kind === 'throttled') return checked;
  if (checked.kind === 'wrong') return { kind: 'refused', notice: 'passwordWrong' };
  if (await wasUsedBefore(deps, { id, passwordHash: checked.hash }, password))
    return await refused(deps, visit, changeFailedReasons.usedBefore, 'it is one of the last ten');
  return await store(deps, visit, { before: checked.hash, after: await hashPassword(password), password });
}

/** All or nothing; the user is locked first, as by every change of one. */
async function store(
  deps: Deps,
  visit: AccountVisit,
  { before, after, password }: { before: string; after: string; password: string },
): Promise<Outcome> {
  const { visitor, session, sessionHash, sessionToken } = visit;
  const { userId } = session;
  const now = deps.now();
  const token = nextToken(deps, sessionToken, password);
  const stored = await transaction(deps.sql, async (sql) => {
    if (!(await updatePasswordHash(sql, userId, before, after))) return new RollBack('changedMeanwhile' as const);
    const reader = await findActiveUserForChange(sql, userId);
    const sessionsEnded = await passwordReplaced(sql, userId, before, now, sessionHash);
    if (!reader || !(await isSessionThereForUpdate(sql, sessionHash, now))) return new RollBack('signedOut' as const);
    await updateSessionToken(sql, { before: sessionHash, after: tokenHash(token), pressAt: now });
    await deletePendingTotp(sql, sessionHash);
    const { deviceToken } = await putDevice(sql, visitor.deviceToken, { userId, byPassword: true, now });
    const { address, language, brand } = visitor;
    await queuePasswordNotice(sql, reader, { now, address, language, brand });
    const steps = [
      { step: 'way', outcome: 'the account page' },
      { step: 'sessions ended', outcome: String(sessionsEnded) },
    ];
    await insertAuditEvent(sql, { event: 'password-changed', ...personOf(visit), steps }, now);
    return { deviceToken };
  });
  // Another post may have been the first press of the same button, which has given the session its next token.
  if (stored === 'signedOut') return { kind: 'signedOut' };
  if (stored === 'changedMeanwhile')
    return (await again(deps, sessionToken, { password })) ?? { kind: 'refused', notice: 'changedMeanwhile' };
  deps.wake.mails();
  return { kind: 'done', notice: 'passwordChanged', sessionToken: token, deviceToken: stored.deviceToken };
}

/** The answer to the second press of the button. */
async function again(deps: Deps, sessionToken: string, { password = '' }: Fields): Promise<Outcome | null> {
  const token = await tokenOfFirstPress(deps, sessionToken, password);
  return token === null ? null : { kind: 'done', notice: 'passwordChanged', sessionToken: token };
}

async function refused(deps: Deps, visit: AccountVisit, reason: ChangeFailedReason, problem: string): Promise<Outcome> {
  const steps = [
    { step: 'way', outcome: 'the account page' },
    { step: 'new password', outcome: problem },
  ];
  const event = { event: 'password-change-refused', reason: String(reason), ...personOf(visit), steps } as const;
  await insertAuditEvent(deps.sql, event, deps.now());
  return { kind: 'refused', notice: 'passwordRefused', reason };
}
