import { useState } from 'react';
import { isEmailAddress } from '#contract/email-address.ts';
import { useMessage } from '../messages.tsx';
import { CallForm } from '../parts/call-form.tsx';
import { EmailField } from '../parts/email-field.tsx';
import { fieldValue, isFilled } from '../parts/field-value.ts';
import { Heading } from '../parts/heading.tsx';
import { LoginLink } from '../parts/login-link.tsx';
import { SubmitButton } from '../parts/submit-button.tsx';
import { usePortalUrls } from '../portal-urls.ts';
import { askForReset, type CallFailure } from '../server-calls.ts';
import { useVisit } from '../visit.ts';

/** Autofilled values hidden from scripts are checked on submit. */
function isReady(form: HTMLFormElement): boolean {
  const value = fieldValue(form, 'username');
  return isEmailAddress(value) || (value === '' && isFilled(form, 'username'));
}

export function Forgotten() {
  const message = useMessage();
  const { page, goTo, comeBack } = useVisit();
  const { toScreen } = usePortalUrls();
  const [failure, setFailure] = useState<CallFailure | null>(null);

  async function send(form: HTMLFormElement) {
    const outcome = await askForReset(page.rules.basePath, fieldValue(form, 'username'));
    if (outcome === 'done') return goTo(toScreen('emailInfo'), 'replace');
    console.error('general-error-something-went-wrong');
    setFailure(outcome);
    comeBack();
  }

  return (
    <>
      <Heading />
      <p className="lede">{message('forgotten-text')}</p>
      <CallForm call="passwordForgotten" failure={failure} isReady={isReady} onSend={send}>
        <EmailField />
        <SubmitButton>{message('forgotten-button')}</SubmitButton>
        <p className="links">
          <LoginLink />
        </p>
      </CallForm>
    </>
  );
}
