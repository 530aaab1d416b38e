import type { ReactNode } from 'react';
import { accountFields } from '#contract/account.ts';
import { useAccount, useSectionUrl } from './account-context.ts';

type Props = { action: string; className?: string; children: ReactNode };

/** A form of the section: it names the session that its page belongs to, and what it does. */
export function AccountForm({ action, className, children }: Props) {
  const { section, form } = useAccount();
  return (
    <form method="post" action={useSectionUrl()(section)} className={className}>
      <input type="hidden" name={accountFields.form} value={form} />
      <input type="hidden" name={accountFields.action} value={action} />
      {children}
    </form>
  );
}
