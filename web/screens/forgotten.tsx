import { useState } from 'react';
import { isEmailAddress } from '#contract/addresses.ts';
import { destinationToCarry, redirectValue } from '#contract/destination.ts';
import { useApp } from '../app-context.ts';
import { CallForm } from '../components/call-form.tsx';
import { EmailField } from '../components/checked-field.tsx';
import { Heading } from '../components/heading.tsx';
import { PortalLink } from '../components/links.tsx';
import { Alert } from '../components/notice.tsx';
import { fieldValue, isFilled, SubmitButton } from '../components/portal-form.tsx';
import { LoginLink, SupportLink } from '../components/screen-links.tsx';
import { askForReset, type CallFailure } from '../server-calls.ts';

/** Autofilled values hidden from scripts are checked on submit. */
function isReady(form: HTMLFormElement): boolean {
  const value = fieldValue(form, 'username');
  return isEmailAddress(value) || (value === '' && isFilled(form, 'username'));
}

export function Forgotten() {
  const { message, page, saved, goTo, comeBack, toScreen, toCall, asked } = useApp();
  const [failure, setFailure] = useState<CallFailure>();

  // The email's link leads there, in another browser too.
  const wanted = redirectValue(saved, asked('destination'), page.rules);
  const query = { destination: destinationToCarry(wanted, page.rules) };

  async function send(form: HTMLFormElement) {
    const outcome = await askForReset(toCall('passwordForgotten', query), fieldValue(form, 'username'));
    if (outcome === 'done') return goTo(toScreen('emailInfo'), 'replace');
    console.error('general-error-something-went-wrong');
    setFailure(outcome);
    comeBack();
  }

  return (
    <>
      <Heading>{message('forgotten-text')}</Heading>
      <CallForm call="passwordForgotten" query={query} said={failure} isReady={isReady} onSend={send}>
        <EmailField />
        <SubmitButton>{message('forgotten-button')}</SubmitButton>
        <p className="links">
          <LoginLink />
        </p>
      </CallForm>
    </>
  );
}

export function EmailInfo() {
  const { message, toScreen } = useApp();
  return (
    <>
      <Heading icon="mail">{message('email-info-text')}</Heading>
      <div className="stack">
        <Alert title={message('email-info-wait-title')}>{message('email-info-wait-text')}</Alert>
        <LoginLink className="button quiet" />
        <p className="links">
          <PortalLink href={toScreen('forgotten')}>{message('email-info-again')}</PortalLink>
          <SupportLink />
        </p>
      </div>
    </>
  );
}

export function ForgottenChangedInfo() {
  const { message, asked } = useApp();
  const isKept = asked('destination');
  return (
    <>
      <Heading icon="check" kind="good">
        {message(isKept ? 'changed-onwards' : 'changed-text')}
      </Heading>
      <div className="stack">
        <LoginLink className="button" />
      </div>
    </>
  );
}
