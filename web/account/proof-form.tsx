import { accountFields } from '#contract/account.ts';
import type { AskedProof } from '#contract/account-page.ts';
import { queryNames } from '#contract/screens.ts';
import { PasswordField } from '../parts/password-field.tsx';
import { TextField } from '../parts/text-field.tsx';
import { usePortalUrls } from '../portal-urls.ts';
import { useAccount, useSectionUrl } from './account-context.ts';
import { AccountForm } from './account-form.tsx';
import { useAccountText } from './account-texts.tsx';

/** Asks who it is once more, where something was begun; what was begun comes back afterwards. */
export function ProofForm({ ask }: { ask: AskedProof }) {
  const text = useAccountText();
  const { section, begun, kept, username } = useAccount();
  const toSection = useSectionUrl();
  if (ask === 'signIn') return <SignInAgain />;
  return (
    <>
      <p className="hint">{text(`account-proof-${ask}`)}</p>
      <AccountForm action="prove">
        <input type="hidden" name={accountFields.begun} value={begun ?? ''} />
        {Object.entries(kept).map(([name, value]) => (
          <input key={name} type="hidden" name={name} value={value} />
        ))}
        {ask === 'password' ? (
          <>
            <input
              className="sr"
              type="text"
              autoComplete="username"
              defaultValue={username}
              readOnly
              tabIndex={-1}
              aria-hidden
            />
            <PasswordField
              id="password"
              label={text('account-password-title')}
              autoComplete="current-password"
              autoFocus
            />
          </>
        ) : (
          <TextField
            id="code"
            name="code"
            label={text('account-code')}
            autoComplete="one-time-code"
            required
            maxLength={40}
            autoFocus
          />
        )}
        <button className="button" type="submit">
          {text('continue')}
        </button>
      </AccountForm>
      <p className="links">
        <a href={toSection(section)}>{text('cancel')}</a>
      </p>
    </>
  );
}

/** Where nothing can be asked here: signs out, and returns once signed in again. */
export function SignInAgain() {
  const text = useAccountText();
  const { section, begun, kept } = useAccount();
  const { toCall } = usePortalUrls();
  const toSection = useSectionUrl();
  const comesBackTo = { [queryNames.destination]: toSection(section, begun ?? undefined, kept) };
  return (
    <>
      <p className="hint">{text('account-proof-signIn')}</p>
      <form method="post" action={toCall('logoutConfirmed', comesBackTo)}>
        <button className="button" type="submit">
          {text('account-sign-in-again')}
        </button>
      </form>
      <p className="links">
        <a href={toSection(section)}>{text('cancel')}</a>
      </p>
    </>
  );
}
