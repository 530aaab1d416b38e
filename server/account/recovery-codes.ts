import { type AccountSection, accountUrl } from '#contract/account.ts';
import type { AccountNotice } from '#contract/account-page.ts';
import { callUrl } from '#contract/calls.ts';
import { queryNames } from '#contract/screens.ts';
import { insertAuditEvent } from '../audit/audit-event.ts';
import type { Deps } from '../deps.ts';
import { makeRecoveryCodes } from '../factors/recovery-codes.ts';
import { findTotp } from '../factors/totp.ts';
import { queueMail } from '../mail/queue-mail.ts';
import { type AccountVisit, personOf, placeOf } from './account-visit.ts';
import { changeAccount, countChange, type Outcome, type Section } from './section.ts';

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
    make: { needsProof: true, run: make },
  },
};

/** Makes new ones, which this session alone may view. */
async function make(deps: Deps, visit: AccountVisit): Promise<Outcome> {
  const { account, session } = visit;
  if (!account.hasApp || account.isPart) return { kind: 'refused', notice: 'notPossible' };
  const throttled = await countChange(deps, visit, 'recovery-codes');
  if (throttled) return throttled;
  const { userId } = session;
  const now = deps.now();
  return await changeAccount(deps, visit, async (sql, person) => {
    if (!(await findTotp(sql, userId))) return { kind: 'refused', notice: 'notPossible' };
    await makeRecoveryCodes(deps, sql, { userId, sessionId: session.id }, now);
    await queueMail(sql, person, { kind: 'recoveryCodesMade', now, ...placeOf(visit) });
    await insertAuditEvent(sql, { event: 'recovery-codes-made', ...personOf(visit) }, now);
    return { kind: 'done', to: recoveryCodesPage(deps, 'recoveryCodes') };
  });
}

/** The page that shows new recovery codes once (two-factor/recovery-codes.ts), and leads back to a section. */
export function recoveryCodesPage({ config }: Deps, section: AccountSection, notice?: AccountNotice): string {
  const back = accountUrl(config.basePath, section, { [queryNames.notice]: notice });
  return `${callUrl(config.basePath, 'twoFactorRecoveryCodes')}?${new URLSearchParams({ [queryNames.redirectUrl]: back })}`;
}
