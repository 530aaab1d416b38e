import { useEffect, useState } from 'react';
import type { ScreenOf } from '#contract/page.ts';
import type { RegistrationAnswer } from '#contract/payloads.ts';
import { queryNames } from '#contract/screens.ts';
import { useApp } from '../app-context.ts';
import { CodeForm, RecoveryForm } from '../components/code-form.tsx';
import { Heading, PageAccount } from '../components/heading.tsx';
import { PortalLink } from '../components/links.tsx';
import { Notice } from '../components/notice.tsx';
import { PasskeyForm } from '../components/passkey-form.tsx';
import { PortalForm, SubmitButton } from '../components/portal-form.tsx';
import { RegistrationSteps, RegistrationUnavailable } from '../components/registration-steps.tsx';
import { LoginLink, SupportLink } from '../components/screen-links.tsx';
import { isCodeSentViaEmail, isRecovery } from '../screen-title.ts';
import { fetchRegistration } from '../server-calls.ts';

export function TwoFactor() {
  const { message, place, secondFactor, toScreen, asked } = useApp();
  const isEmail = isCodeSentViaEmail(place.search);
  const asksRecovery = !isEmail && isRecovery(place.search, secondFactor);
  const text = message(isEmail ? 'twofa-email-text' : asksRecovery ? 'recovery-text' : 'twofa-text');
  const head = <Heading>{!secondFactor?.isCodeNotSent && text}</Heading>;
  // The address of the other method differs only in this.
  const recovery = asksRecovery ? undefined : 'true';
  const otherMethod = secondFactor?.mayRecover && (
    <PortalLink href={toScreen('twoFactor', { redirectURL: asked('redirectUrl') ?? undefined, recovery })}>
      {message(asksRecovery ? 'twofa-use-app' : 'twofa-use-recovery')}
    </PortalLink>
  );
  if (asksRecovery) return <RecoveryForm head={head} links={otherMethod} />;
  return (
    <>
      <CodeForm head={head} cancelKey="twofa-change-user" links={otherMethod} />
      {secondFactor?.hasPasskey && <PasskeyForm isSecondFactor />}
    </>
  );
}

type Props = ScreenOf<'twoFactorRegistration'>;

export function TwoFactorRegistration(screen: Props) {
  const { message, place } = useApp();
  if (!isCodeSentViaEmail(place.search)) return <AppRegistration {...screen} />;
  const head = <Heading>{!screen.secondFactor?.isCodeNotSent && message('registration-email-text')}</Heading>;
  return <CodeForm head={head} cancelKey="cancel" />;
}

function AppRegistration({ secondFactor, registration: sent }: Props) {
  const { page } = useApp();
  const [registration, setRegistration] = useState<RegistrationAnswer | 'unavailable' | undefined>(sent);
  useEffect(() => {
    fetchRegistration(page.rules.basePath).then((answer) => setRegistration('url' in answer ? answer : 'unavailable'));
  }, [page]);

  if (registration === 'unavailable') return <RegistrationUnavailable />;
  const head = (
    <>
      <Heading />
      <PageAccount account={secondFactor?.account} />
    </>
  );
  return (
    <CodeForm
      head={head}
      cancelKey="cancel"
      around={(code) => (
        <RegistrationSteps registration={registration} account={secondFactor?.account} canCopy>
          {code}
        </RegistrationSteps>
      )}
    />
  );
}

/** The sign-in is too old, or covers only part of the account: an app is set up after another one, from another network, or not at all. */
export function RegisterElsewhere({ why, comesBackTo, goesOnTo, hasPasskey }: ScreenOf<'registerElsewhere'>) {
  const { message } = useApp();
  const helper = why !== 'provider' ? why : comesBackTo === null ? 'administrator' : 'password';
  const text = helper === 'tooOld' ? 'once-more-text' : (`register-elsewhere-${helper}` as const);
  return (
    <>
      <Heading icon="key">{message(text)}</Heading>
      <Notice />
      {hasPasskey && <PasskeyForm isSecondFactor />}
      {comesBackTo !== null && <SignInOnceMoreForm comesBackTo={comesBackTo} />}
      <p className="links">
        {goesOnTo === null ? <LoginLink /> : <PortalLink href={goesOnTo}>{message('cancel')}</PortalLink>}
        {comesBackTo === null && <SupportLink />}
      </p>
    </>
  );
}

/** Signs out a user who signed in too long ago to set up an app, and returns here once they are signed in again. */
function SignInOnceMoreForm({ comesBackTo }: { comesBackTo: string }) {
  const { message, save } = useApp();

  // biome-ignore lint/correctness/useExhaustiveDependencies: once; what the tab remembers would lead past this page
  useEffect(() => save({ loginHashFragment: null, redirectOldWebbundleUrl: null }), []);

  return (
    <PortalForm call="logoutConfirmed" query={{ [queryNames.destination]: comesBackTo }}>
      <SubmitButton>{message('once-more-button')}</SubmitButton>
    </PortalForm>
  );
}
