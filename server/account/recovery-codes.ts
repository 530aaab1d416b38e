import type { Deps } from '../deps/deps.ts';
import { queueMail } from '../mail/queue-mail.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import { RollBack } from '../storage/database.ts';
import { findTotp } from '../storage/totp.ts';
import { makeRecoveryCodes } from '../two-factor/recovery-codes.ts';
import type { AccountVisit } from './account-visit.ts';
import { countChange } from './count-change.ts';
import { personForChange } from './person-for-change.ts';
import { personOf } from './person-of-event.ts';
import { placeOf } from './place-of-change.ts';
import { nextToken } from './press.ts';
import { recoveryCodesPage } from './recovery-codes-page.ts';
import { rotateSession } from './rotate-session.ts';
import type { Fields, Outcome, Section } from './section.ts';

/** How many recovery codes are left, and new ones, which are shown once. */
export const recoveryCodes: Section = {
  name: 'recoveryCodes',
  kept: [],
  view: async (_deps, { account }) => ({
    name: 'recoveryCodes',
    left: account.recoveryCodesLeft,
    hasApp: account.hasApp,
    isPart: account.isPart,
  }),
  actions: {
    make: { needsProof: true, run: make, again: (deps) => ({ to: recoveryCodesPage(deps, 'recoveryCodes') }) },
  },
};

/** Makes new ones, which only this session's next token may view: a copy of its cookie may be as old as the sign-in. */
async function make(deps: Deps, visit: AccountVisit, fields: Fields): Promise<Outcome> {
  const { account, session } = visit;
  if (!account.hasApp || account.isPart) return { kind: 'refused', notice: 'notPossible' };
  const throttled = await countChange(deps, visit, 'recovery-codes');
  if (throttled) return throttled;
  const { userId } = session;
  const now = deps.now();
  const token = nextToken(deps, { visitor: visit.visitor, fields });
  const stored = await deps.sql.begin(async (sql) => {
    const reader = await personForChange(sql, visit, now);
    if (!reader) return new RollBack('signedOut' as const);
    if (!(await findTotp(sql, userId))) return new RollBack('notPossible' as const);
    await makeRecoveryCodes(deps, sql, { userId, sessionId: session.id }, now);
    await rotateSession(sql, visit, { token, now });
    await queueMail(sql, reader, { kind: 'recoveryCodesMade', now, ...placeOf(visit) });
    await insertAuditEvent(sql, { event: 'recovery-codes-made', ...personOf(visit) }, now);
    return null;
  });
  if (stored === 'signedOut') return { kind: 'signedOut' };
  if (stored === 'notPossible') return { kind: 'refused', notice: 'notPossible' };
  deps.wake.mails();
  return { kind: 'done', sessionToken: token, to: recoveryCodesPage(deps, 'recoveryCodes') };
}
