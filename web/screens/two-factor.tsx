import { useMessage } from '../messages.tsx';
import { CodeForm } from '../parts/code-form.tsx';
import { Heading } from '../parts/heading.tsx';
import { isCodeSentViaEmail } from '../screen-title.ts';
import { useVisit } from '../visit.ts';

export function TwoFactor() {
  const message = useMessage();
  const isEmail = isCodeSentViaEmail(useVisit().place);
  return (
    <>
      <Heading />
      <p className="lede">{message(isEmail ? 'twofa-email-text' : 'twofa-text')}</p>
      <CodeForm
        cancelKey="twofa-change-user"
        wrongKey={isEmail ? 'twofa-email-wrong' : 'twofa-error-try-again-with-code'}
      />
    </>
  );
}
