import { type AccountSection, accountUrl } from '#contract/account.ts';
import type { AccountNotice } from '#contract/account-page.ts';
import { callUrl } from '#contract/calls.ts';
import { queryNames } from '#contract/screens.ts';
import type { Deps } from '../deps/deps.ts';

/** The page that shows new recovery codes once (two-factor/recovery-codes-route.ts), and leads back to a section. */
export function recoveryCodesPage({ config }: Deps, section: AccountSection, notice?: AccountNotice): string {
  const back = accountUrl(config.basePath, section, { [queryNames.notice]: notice });
  return `${callUrl(config.basePath, 'twoFactorRecoveryCodes')}?${new URLSearchParams({ [queryNames.redirectUrl]: back })}`;
}
