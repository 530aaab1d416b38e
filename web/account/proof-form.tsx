import { type AskedProof, accountFields } from '#contract/account.ts';
import { longestCodeText } from '#contract/codes.ts';
import { queryNames } from '#contract/screens.ts';
import { useApp } from '../app-context.ts';
import { UsernameField } from '../components/checked-field.tsx';
import { HiddenFields } from '../components/portal-form.tsx';
import { PasswordField, TextField } from '../components/text-field.tsx';
import { useBehind } from './account-context.tsx';
import { BegunForm, Cancel } from './account-form.tsx';

/** Asks who it is once more, where something was begun; what was begun comes back afterwards. */
export function ProofForm({ ask }: { ask: AskedProof }) {
  const { text, username, begun, kept } = useBehind();
  if (ask === 'signIn') return <SignInAgain />;
  return (
    <BegunForm hint={text(`account-proof-${ask}`)} action="prove" button="continue">
      <HiddenFields of={[[accountFields.begun, begun ?? ''], ...Object.entries(kept)]} />
      {ask === 'password' ? (
        <>
          <UsernameField username={username} />
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
          maxLength={longestCodeText}
          autoFocus
        />
      )}
    </BegunForm>
  );
}

/** Where nothing can be asked here: signs out, and returns once signed in again. */
export function SignInAgain() {
  const { text, comesBackTo } = useBehind();
  const { toCall } = useApp();
  return (
    <>
      <p className="hint">{text('account-proof-signIn')}</p>
      <form method="post" action={toCall('logoutConfirmed', { [queryNames.destination]: comesBackTo })}>
        <button className="button" type="submit">
          {text('account-sign-in-again')}
        </button>
      </form>
      <Cancel />
    </>
  );
}
