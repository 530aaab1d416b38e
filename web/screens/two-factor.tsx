import { useEffect, useState } from 'react';
import type { ScreenOf } from '#contract/page.ts';
import type { RegistrationAnswer } from '#contract/payloads.ts';
import { queryNames } from '#contract/screens.ts';
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
  const { message, place, secondFactor } = useApp();
  const isEmail = isCodeSentViaEmail(place.search);
  const asksRecovery = !isEmail && isRecovery(place.search, secondFactor);
  const otherMethod = secondFactor?.mayRecover && <OtherMethod isRecovery={!asksRecovery} />;
  const asked = message(isEmail ? 'twofa-email-text' : asksRecovery ? 'recovery-text' : 'twofa-text');
  const head = <Heading>{!secondFactor?.isCodeNotSent && asked}</Heading>;
  if (asksRecovery) return <RecoveryForm head={head} links={otherMethod} />;
  return (
    <>
      <CodeForm head={head} cancelKey="twofa-change-user" links={otherMethod} />
      {secondFactor?.hasPasskey && <PasskeyForm isSecondFactor />}
    </>
  );
}

/** Switches between recovery code and app code; the address differs only in this. */
function OtherMethod({ isRecovery }: { isRecovery: boolean }) {
  const { message, toScreen, asked } = useApp();
  const query = {
    [queryNames.redirectUrl]: asked('redirectUrl') ?? undefined,
    [queryNames.recovery]: isRecovery ? 'true' : undefined,
  };
  return (
    <PortalLink href={toScreen('twoFactor', query)}>
      {message(isRecovery ? 'twofa-use-recovery' : 'twofa-use-app')}
    </PortalLink>
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
        <RegistrationSteps
          registration={registration}
          account={secondFactor?.account}
          canCopy
          onBroken={() => setRegistration('unavailable')}
        >
          {code}
        </RegistrationSteps>
      )}
    />
  );
}
