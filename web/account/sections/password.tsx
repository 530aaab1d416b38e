import type { ViewOf } from '#contract/account.ts';
import { UsernameField } from '../../components/checked-field.tsx';
import { NewPasswordFields } from '../../components/new-password-fields.tsx';
import { PasswordField } from '../../components/text-field.tsx';
import { useAccount } from '../account-context.tsx';
import { AccountForm, ClosedSection } from '../account-form.tsx';

/** Change the password: the current one, the rules of a reset, and what ends with the change. */
export function Password({ username, state }: ViewOf<'password'>) {
  const { text } = useAccount();
  if (state !== 'open') return <ClosedSection why={`account-password-${state}`} />;
  return (
    <AccountForm action="change" button="change-button">
      <UsernameField username={username} />
      <PasswordField id="current" label={text('account-password-current')} autoComplete="current-password" />
      <div id="new-password">
        <NewPasswordFields isFirst={false} />
      </div>
      <p className="hint">{text('account-password-ends')}</p>
    </AccountForm>
  );
}
