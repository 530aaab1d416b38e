import { type ReactNode, useState } from 'react';
import { destinationAfterTwoFactor } from '#contract/destination.ts';
import { noticeOfSearch } from '#contract/notices.ts';
import { isOneTimeCode } from '#contract/one-time-code.ts';
import { type MessageKey, useMessage } from '../messages.tsx';
import { usePortalUrls } from '../portal-urls.ts';
import { verifyCode } from '../server-calls.ts';
import { useVisit } from '../visit.ts';
import { useCallFailureText } from './call-failure-text.ts';
import { ChangeUserLink } from './change-user-link.tsx';
import { CodeField } from './code-field.tsx';
import { valueOf } from './filled.ts';
import { PortalForm } from './portal-form.tsx';
import { SubmitButton } from './submit-button.tsx';
import { TwoFactorFields } from './two-factor-fields.tsx';

type Props = { cancelKey: MessageKey; wrongKey: MessageKey; wrap?: (code: ReactNode) => ReactNode };

/** The six digits and what follows from them; the same on both second-factor screens. */
export function CodeForm({ cancelKey, wrongKey, wrap = (code) => code }: Props) {
  const message = useMessage();
  const textOf = useCallFailureText();
  const { page, place, saved, save, leave, comeBack, goToDocument } = useVisit();
  const { toScreen } = usePortalUrls();
  const wasWrong = noticeOfSearch(place.search) === 'codeWrong';
  const [error, setError] = useState(wasWrong ? message(wrongKey) : null);
  const [attempt, setAttempt] = useState(0);
  const { basePath } = page.rules;

  async function send(code: string) {
    const outcome = await verifyCode(basePath, code);
    if (outcome === 'right') {
      const destination = destinationAfterTwoFactor(saved, page.rules);
      save({ loginHashFragment: null });
      return goToDocument(destination);
    }
    console.error('Two-factor code not verified:', outcome === 'wrong' ? outcome : outcome.name);
    if (outcome !== 'wrong' && outcome.name === 'signInExpired') {
      return goToDocument(toScreen('login', { notice: 'signInExpired' }));
    }
    setError(outcome === 'wrong' ? message(wrongKey) : textOf(outcome));
    setAttempt((count) => count + 1);
    comeBack();
  }

  return (
    <PortalForm
      call="twoFactorVerify"
      word="checking-code"
      isReady={(form) => isOneTimeCode(valueOf(form, 'code'))}
      onSend={(form) => send(valueOf(form, 'code'))}
    >
      {wrap(<CodeField error={error} attempt={attempt} onComplete={(code) => leave('checking-code') && send(code)} />)}
      <TwoFactorFields />
      <SubmitButton>{message('twofa-verify')}</SubmitButton>
      <p className="links">
        <ChangeUserLink textKey={cancelKey} />
      </p>
    </PortalForm>
  );
}
