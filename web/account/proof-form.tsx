import type { ReactNode } from 'react';
import type { AskedProof } from '#contract/account.ts';
import { accountFields } from '#contract/account.ts';
import { callUrl } from '#contract/calls.ts';
import { longestCodeText } from '#contract/codes.ts';
import { queryNames } from '#contract/screens.ts';
import { useApp, usePortalUrls } from '../app-context.ts';
import { UsernameField } from '../components/checked-field.tsx';
import { PasswordField, TextField } from '../components/text-field.tsx';
import { useAccount, useAccountText, useSectionUrl } from './account-context.tsx';
import { AccountForm, Cancel } from './account-form.tsx';

/** Asks who it is once more, where something was begun; what was begun comes back afterwards. */
export function ProofForm({ ask }: { ask: AskedProof }) {
  const text = useAccountText();
  const { username, mayAskPasskey } = useAccount();
  if (ask === 'signIn') return <SignInAgain>{mayAskPasskey && <PasskeyProof />}</SignInAgain>;
  return (
    <>
      <p className="hint">{text(`account-proof-${ask}`)}</p>
      <AccountForm action="prove" button="continue">
        <BegunFields />
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
      </AccountForm>
      {mayAskPasskey && <PasskeyProof />}
      <Cancel />
    </>
  );
}

/** What was begun, which comes back after the proof. */
function BegunFields() {
  const { begun, kept } = useAccount();
  return (
    <>
      <input type="hidden" name={accountFields.begun} value={begun ?? ''} />
      {Object.entries(kept).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
    </>
  );
}

/** A passkey in place of what is asked. Hidden until the script finds that the browser can use one (web/passkeys/ceremony.ts). */
function PasskeyProof() {
  const text = useAccountText();
  const { page } = useApp();
  return (
    <AccountForm
      action="prove"
      hidden
      data-prove={callUrl(page.rules.basePath, 'passkeyProofOptions')}
      data-none={text('account-proof-passkey-none')}
    >
      <BegunFields />
      <input type="hidden" name="credential" />
      <button className="button quiet" type="submit">
        {text('account-proof-passkey')}
      </button>
      <p aria-live="polite" />
    </AccountForm>
  );
}

/** Where nothing can be asked here: signs out, and returns once signed in again; unless the person could not. */
export function SignInAgain({ children }: { children?: ReactNode }) {
  const text = useAccountText();
  const { section, begun, kept, needsInvitation } = useAccount();
  const { toCall } = usePortalUrls();
  const toSection = useSectionUrl();
  if (needsInvitation)
    return (
      <>
        <p className="hint">{text('account-proof-invitation')}</p>
        <Cancel />
      </>
    );
  const comesBackTo = { [queryNames.destination]: toSection(section, begun ?? undefined, kept) };
  return (
    <>
      <p className="hint">{text('account-proof-signIn')}</p>
      <form method="post" action={toCall('logoutConfirmed', comesBackTo)}>
        <button className="button" type="submit">
          {text('account-sign-in-again')}
        </button>
      </form>
      {children}
      <Cancel />
    </>
  );
}
