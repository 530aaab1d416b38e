import type { Deps } from '../deps/deps.ts';
import { queueMail } from '../mail/queue-mail.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import { findTotp } from '../storage/totp.ts';
import { RollBack, transaction } from '../storage/transaction.ts';
import { makeRecoveryCodes } from '../two-factor/recovery-codes.ts';
import type { AccountVisit } from './account-visit.ts';
import { countChange } from './count-change.ts';
import { personForChange } from './person-for-change.ts';
import { personOf } from './person-of-event.ts';
import { placeOf } from './place-of-change.ts';
import { recoveryCodesPage } from './recovery-codes-page.ts';
import type { Outcome, Section } from './section.ts';

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
  actions: { make: { needsProof: true, run: make } },
};

async function make(deps: Deps, visit: AccountVisit): Promise<Outcome> {
  const { account, session, sessionHash } = visit;
  if (!account.hasApp || account.isPart) return { kind: 'refused', notice: 'notPossible' };
  const throttled = await countChange(deps, visit, 'recovery-codes');
  if (throttled) return throttled;
  const { userId } = session;
  const now = deps.now();
  const stored = await transaction(deps.sql, async (sql) => {
    const reader = await personForChange(sql, visit, now);
    if (!reader) return new RollBack('signedOut' as const);
    if (!(await findTotp(sql, userId))) return new RollBack('notPossible' as const);
    await makeRecoveryCodes(deps, sql, { userId, sessionHash }, now);
    await queueMail(sql, reader, { kind: 'recoveryCodesMade', now, ...placeOf(visit) });
    await insertAuditEvent(sql, { event: 'recovery-codes-made', ...personOf(visit) }, now);
    return null;
  });
  if (stored === 'signedOut') return { kind: 'signedOut' };
  if (stored === 'notPossible') return { kind: 'refused', notice: 'notPossible' };
  deps.wake.mails();
  return { kind: 'done', to: recoveryCodesPage(deps, 'recoveryCodes') };
}
