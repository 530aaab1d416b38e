import type { ViewOf } from '#contract/account.ts';
import { longestCodeText } from '#contract/codes.ts';
import { Alert } from '../../components/notice.tsx';
import { Fact } from '../../components/reference.tsx';
import { RegistrationSteps } from '../../components/registration-steps.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useAccount } from '../account-context.tsx';
import { AccountForm, BegunForm, ClosedSection } from '../account-form.tsx';
import { TextAt } from '../times.tsx';

type Props = ViewOf<'app'>;

export function App({ since, isRequired, isPart, next }: Props) {
  const { text, begun, toSection } = useAccount();
  if (isPart) return <ClosedSection why="account-part" />;
  if (since === null)
    return (
      <>
        <p className="hint">{text('account-app-why')}</p>
        <AccountForm action="setUp" button="account-app-button-set-up" />
      </>
    );
  if (next) return <NextApp {...next} />;
  if (begun === 'remove' && !isRequired)
    return <BegunForm hint={text('account-app-remove-text')} action="remove" button="account-app-button-remove" />;
  return (
    <>
      <p className="hint">
        <TextAt text="account-app-since" at={since} isDay />
      </p>
      <div className="stack">
        <a className="button" href={toSection('app', 'replace')}>
          {text('account-app-button-replace')}
        </a>
        {isRequired ? (
          <p className="hint">{text('account-app-required')}</p>
        ) : (
          <a className="button quiet" href={toSection('app', 'remove')}>
            {text('account-app-button-remove')}
          </a>
        )}
      </div>
    </>
  );
}

function NextApp(next: NonNullable<Props['next']>) {
  const { text, username } = useAccount();
  return (
    <BegunForm hint={text('account-app-replace-text')} action="replace" button="account-app-button-replace">
      <RegistrationSteps registration={next} account={username}>
        <TextField
          id="code"
          name="code"
          label={text('account-app-code')}
          inputMode="numeric"
          autoComplete="one-time-code"
          required
          maxLength={longestCodeText}
        />
      </RegistrationSteps>
    </BegunForm>
  );
}

export function RecoveryCodes({ left, hasApp, isPart }: ViewOf<'recoveryCodes'>) {
  const { text, toSection } = useAccount();
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
