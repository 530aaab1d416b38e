import type { AccountView } from '#contract/account-page.ts';
import { Alert } from '../../parts/alert.tsx';
import { Fact } from '../../parts/fact.tsx';
import { useAccountText, useSectionUrl } from '../account-context.tsx';
import { AccountForm, ClosedSection } from '../account-form.tsx';

type Props = Extract<AccountView, { name: 'recoveryCodes' }>;

/** How many recovery codes are left, and new ones. */
export function RecoveryCodes({ left, hasApp, isPart }: Props) {
  const text = useAccountText();
  const toSection = useSectionUrl();
  if (isPart) return <ClosedSection why="account-part" />;
  if (!hasApp)
    return (
      <div className="stack">
        <Alert>{text('account-recovery-codes-none')}</Alert>
        <a className="button" href={toSection('app')}>
          {text('account-app-title')}
        </a>
      </div>
    );
  return (
    <>
      <div className="stack">
        <Fact label={text('account-recovery-codes-left')}>{left}</Fact>
      </div>
      <AccountForm action="make" button="account-recovery-codes-button">
        <p className="hint">{text('account-recovery-codes-make-text')}</p>
      </AccountForm>
    </>
  );
}
