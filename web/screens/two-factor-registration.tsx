import { useEffect, useState } from 'react';
import type { PageScreen } from '#contract/page.ts';
import type { RegistrationAnswer } from '#contract/payloads.ts';
import { useApp, useMessage } from '../app-context.ts';
import { CodeForm } from '../components/code-form.tsx';
import { Heading, PageAccount } from '../components/heading.tsx';
import { RegistrationSteps, RegistrationUnavailable } from '../components/registration-steps.tsx';
import { isCodeSentViaEmail } from '../screen-title.ts';
import { fetchRegistration } from '../server-calls.ts';

type Props = Extract<PageScreen, { name: 'twoFactorRegistration' }>;

export function TwoFactorRegistration(screen: Props) {
  const message = useMessage();
  const { place } = useApp();
  if (!isCodeSentViaEmail(place.search)) return <AppRegistration {...screen} />;
  const head = (
    <>
      <Heading />
      {!screen.secondFactor?.isCodeNotSent && <p className="lede">{message('registration-email-text')}</p>}
    </>
  );
  return <CodeForm head={head} cancelKey="cancel" />;
}

function AppRegistration({ secondFactor, registration: sent }: Props) {
  const message = useMessage();
  const { page } = useApp();
  const [registration, setRegistration] = useState<RegistrationAnswer | 'unavailable' | undefined>(sent);
  useEffect(() => {
    let isGone = false;
    fetchRegistration(page.rules.basePath).then((answer) => {
      if (!isGone) setRegistration('url' in answer ? answer : 'unavailable');
    });
    return () => {
      isGone = true;
    };
  }, [page]);

  if (registration === 'unavailable') return <RegistrationUnavailable />;
  const head = (
    <>
      <Heading />
      <p className="lede">{message('registration-text')}</p>
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
