import type { AccountSection } from '#contract/account.ts';
import type { AccountKey } from './account-texts.tsx';

/** The heading of each section, which is also its name in the overview. */
export const sectionTitle: Record<AccountSection, AccountKey> = {
  overview: 'account-title',
  password: 'account-password-title',
  passkeys: 'account-passkeys-title',
  app: 'account-app-title',
  recoveryCodes: 'account-recovery-codes-title',
  devices: 'account-devices-title',
  sessions: 'account-sessions-title',
  signIns: 'account-sign-ins-title',
};
