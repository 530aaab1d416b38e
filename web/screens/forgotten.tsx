import { useState } from 'react';
import { isEmailAddress } from '#contract/email-address.ts';
import { useMessage } from '../messages.tsx';
import { Alert } from '../parts/alert.tsx';
import { useCallFailureText } from '../parts/call-failure-text.ts';
import { EmailField } from '../parts/email-field.tsx';
import { fieldValue } from '../parts/field-value.ts';
import { Heading } from '../parts/heading.tsx';
import { LoginLink } from '../parts/login-link.tsx';
import { Notice } from '../parts/notice.tsx';
import { PortalForm } from '../parts/portal-form.tsx';
import { SubmitButton } from '../parts/submit-button.tsx';
import { usePortalUrls } from '../portal-urls.ts';
import { askForReset, type CallFailure } from '../server-calls.ts';
import { useVisit } from '../visit.ts';

export function Forgotten() {
  const message = useMessage();
  const textOf = useCallFailureText();
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
      <Notice />
      {failure && (
        <Alert kind="bad" answerTo={failure}>
          {textOf(failure)}
        </Alert>
      )}
      <PortalForm
        call="passwordForgotten"
        isReady={(form) => isEmailAddress(fieldValue(form, 'username'))}
        onSend={send}
      >
        <EmailField />
        <SubmitButton>{message('forgotten-button')}</SubmitButton>
        <p className="links">
          <LoginLink />
        </p>
      </PortalForm>
    </>
  );
}
