import type { AccountView } from '#contract/account.ts';
import { UsernameField } from '../../components/checked-field.tsx';
import { NewPasswordFields } from '../../components/new-password-fields.tsx';
import { PasswordField } from '../../components/text-field.tsx';
import { useAccountText } from '../account-context.tsx';
import { AccountForm, ClosedSection } from '../account-form.tsx';

type Props = Extract<AccountView, { name: 'password' }>;

/** Change the password: the current one, the rules of a reset, and what ends with the change. */
export function Password({ username, state }: Props) {
  const text = useAccountText();
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
