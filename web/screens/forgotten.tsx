import { useState } from 'react';
import { redirectValue } from '#contract/destination.ts';
import { destinationToCarry } from '#contract/destination-to-carry.ts';
import { isEmailAddress } from '#contract/email-address.ts';
import { queryNames } from '#contract/screens.ts';
import { useMessage } from '../messages.tsx';
import { CallForm } from '../parts/call-form.tsx';
import { EmailField } from '../parts/email-field.tsx';
import { fieldValue, isFilled } from '../parts/field-value.ts';
import { Heading } from '../parts/heading.tsx';
import { LoginLink } from '../parts/login-link.tsx';
import { SubmitButton } from '../parts/submit-button.tsx';
import { usePortalUrls } from '../portal-urls.ts';
import { parameterOf } from '../query.ts';
import { askForReset, type CallFailure } from '../server-calls.ts';
import { useVisit } from '../visit.ts';

/** Autofilled values hidden from scripts are checked on submit. */
function isReady(form: HTMLFormElement): boolean {
  const value = fieldValue(form, 'username');
  return isEmailAddress(value) || (value === '' && isFilled(form, 'username'));
}

export function Forgotten() {
  const message = useMessage();
  const { page, place, saved, goTo, comeBack } = useVisit();
  const { toScreen, toCall } = usePortalUrls();
  const [failure, setFailure] = useState<CallFailure | null>(null);

  // The email's link leads there, in another browser too.
  const asked = redirectValue(saved, parameterOf(place.search, queryNames.destination), page.rules);
  const query = { [queryNames.destination]: destinationToCarry(asked, page.rules) };

  async function send(form: HTMLFormElement) {
    const outcome = await askForReset(toCall('passwordForgotten', query), fieldValue(form, 'username'));
    if (outcome === 'done') return goTo(toScreen('emailInfo'), 'replace');
    console.error('general-error-something-went-wrong');
    setFailure(outcome);
    comeBack();
  }

  return (
    <>
      <Heading />
      <p className="lede">{message('forgotten-text')}</p>
      <CallForm call="passwordForgotten" query={query} failure={failure} isReady={isReady} onSend={send}>
        <EmailField />
        <SubmitButton>{message('forgotten-button')}</SubmitButton>
        <p className="links">
          <LoginLink />
        </p>
      </CallForm>
    </>
  );
}
