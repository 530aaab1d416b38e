import { type ChangeFailedReason, changeFailedReasons } from '#contract/reasons.ts';
import { screenUrl } from '#contract/screens.ts';
import type { Deps } from '../deps/deps.ts';
import { wasUsedBefore } from '../password/change-password.ts';
import { newPasswordProblem } from '../password/new-password-problem.ts';
import { newPasswordProblemsInWords } from '../password/new-password-problems-in-words.ts';
import { newPasswordRules } from '../password/new-password-rules.ts';
import { passwordReplaced, queuePasswordNotice } from '../password/password-replaced.ts';
import { hashPassword } from '../secrets/password-hash.ts';
import { tokenHash } from '../secrets/token.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import { RollBack } from '../storage/database.ts';
import { putDevice, updateSessionDevice } from '../storage/device.ts';
import { listKeysOfCustomers } from '../storage/keys-of-customers.ts';
import { updatePasswordHash } from '../storage/portal-user.ts';
import { insertEventOnceAMinute } from '../storage/sign-in.ts';
import { turnOf } from '../storage/throttle-keys.ts';
import type { AccountVisit } from './account-visit.ts';
import { checkPassword } from './check-password.ts';
import { countChange } from './count-change.ts';
import { personForChange } from './person-for-change.ts';
import { personOf } from './person-of-event.ts';
import { nextToken } from './press.ts';
import { rotateSession } from './rotate-session.ts';
import type { Fields, Outcome, Section } from './section.ts';

/** The current password is its own proof, asked each time. */
export const password: Section = {
  name: 'password',
  kept: [],
  view: async (_deps, visit) => ({ name: 'password', username: visit.session.username, state: stateOfPassword(visit) }),
  actions: { change: { needsProof: false, run: change, again: () => ({ notice: 'passwordChanged' }) } },
};

/** Whether the password can be changed here, or why not. */
export function stateOfPassword({ account }: AccountVisit): 'open' | 'none' | 'byPasskey' | 'forbidden' | 'part' {
  if (account.isPart) return 'part';
  if (account.isByPasskey) return 'byPasskey';
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
  if (problem)
    return await refused(deps, visit, problem, newPasswordProblemsInWords(password, repeat, rules).join('; '));
  const checked = await checkPassword(deps, visit, current, 'password-change-refused');
  if (checked.kind === 'throttled' || checked.kind === 'signedOut') return checked;
  if (checked.kind === 'wrong') return { ...checked, kind: 'refused', notice: 'passwordWrong' };
  // Each of them costs up to eleven hashes.
  const throttled = await countChange(deps, visit, 'password');
  if (throttled) return throttled;
  const turn = turnOf(visit.visitor.address);
  if (await wasUsedBefore(deps, { id, passwordHash: checked.hash }, password, turn))
    return await refused(deps, visit, changeFailedReasons.usedBefore, 'it is one of the last ten');
  const token = nextToken(deps, { visitor: visit.visitor, fields });
  return await store(deps, visit, { before: checked.hash, after: await hashPassword(password, turn), token });
}

/**
 * All or nothing; the user is locked first, as by every change of one. In another browser than it was opened in this session ends,
 * too: a copy of its cookie, with the password, would go on alone, and have a browser of the user's.
 */
async function store(
  deps: Deps,
  visit: AccountVisit,
  { before, after, token }: { before: string; after: string; token: string },
): Promise<Outcome> {
  const { visitor, session, sessionHash, isOwnBrowser } = visit;
  const { userId } = session;
  const now = deps.now();
  const stored = await deps.sql.begin(async (sql) => {
    // The session first: the first press of the same button has given it its next token.
    const reader = await personForChange(sql, visit, now);
    if (!reader) return new RollBack('signedOut' as const);
    if (!(await updatePasswordHash(sql, userId, before, after))) return new RollBack('changedMeanwhile' as const);
    const sessionsEnded = await passwordReplaced(sql, userId, before, now, isOwnBrowser ? sessionHash : null);
    const device = isOwnBrowser ? await putDevice(sql, visitor.deviceToken, { userId, byPassword: true, now }) : null;
    if (device) {
      await rotateSession(sql, visit, { token, now });
      await updateSessionDevice(sql, { sessionHash: tokenHash(token), ...device });
    }
    const { address, language } = visitor;
    await queuePasswordNotice(sql, reader, { now, address, language });
    const steps = [
      { step: 'way', outcome: 'the account page' },
      { step: 'sessions ended', outcome: String(sessionsEnded) },
    ];
    await insertAuditEvent(sql, { event: 'password-changed', ...personOf(visit), steps }, now);
    return { device };
  });
  if (stored === 'signedOut') return { kind: 'signedOut' };
  if (stored === 'changedMeanwhile') return { kind: 'refused', notice: 'changedMeanwhile' };
  deps.wake.mails();
  const { device } = stored;
  if (device === null) return { kind: 'done', to: screenUrl(deps.config.basePath, 'forgottenChangedInfo') };
  return { kind: 'done', notice: 'passwordChanged', sessionToken: token, deviceToken: device.deviceToken };
}

async function refused(deps: Deps, visit: AccountVisit, reason: ChangeFailedReason, problem: string): Promise<Outcome> {
  const steps = [
    { step: 'way', outcome: 'the account page' },
    { step: 'new password', outcome: problem },
  ];
  const event = { event: 'password-change-refused', reason: String(reason), ...personOf(visit), steps } as const;
  const under = `new-password:${reason}:${visit.session.userId}`;
  const reference = await insertEventOnceAMinute(deps.sql, event, under, deps.now());
  return { kind: 'refused', notice: 'passwordRefused', reason, reference };
}
