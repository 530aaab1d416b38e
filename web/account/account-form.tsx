import type { ComponentProps } from 'react';
import { accountFields } from '#contract/account.ts';
import { useAccount, useSectionUrl } from './account-context.ts';

type Props = Omit<ComponentProps<'form'>, 'action'> & { action: string; [data: `data-${string}`]: string };

/** A form of the section: it names the session that its page belongs to, and what it does. */
export function AccountForm({ action, children, ...more }: Props) {
  const { section, form } = useAccount();
  return (
    <form method="post" action={useSectionUrl()(section)} {...more}>
      <input type="hidden" name={accountFields.form} value={form} />
      <input type="hidden" name={accountFields.action} value={action} />
      {children}
    </form>
  );
}
