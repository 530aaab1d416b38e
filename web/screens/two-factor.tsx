import { useEffect, useState } from 'react';
import type { ScreenOf } from '#contract/page.ts';
import type { RegistrationAnswer } from '#contract/payloads.ts';
import { useApp } from '../app-context.ts';
import { CodeForm } from '../components/code-form.tsx';
import { Heading, PageAccount } from '../components/heading.tsx';
import { PortalLink } from '../components/links.tsx';
import { PasskeyForm } from '../components/passkey-form.tsx';
import { RecoveryForm } from '../components/recovery-form.tsx';
import { RegistrationSteps, RegistrationUnavailable } from '../components/registration-steps.tsx';
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
