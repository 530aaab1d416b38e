import { type ReactNode, useState } from 'react';
import { destinationAfterTwoFactor } from '#contract/destination.ts';
import { noticeOfSearch } from '#contract/notices.ts';
import { isOneTimeCode } from '#contract/one-time-code.ts';
import { type MessageKey, useMessage } from '../messages.tsx';
import { usePortalUrls } from '../portal-urls.ts';
import { type CallFailure, verifyCode } from '../server-calls.ts';
import { useVisit } from '../visit.ts';
import { CallForm } from './call-form.tsx';
import { ChangeUserLinks } from './change-user-links.tsx';
import { type Boxes, codeOf, emptyBoxes } from './code-box-moves.ts';
import { CodeField } from './code-field.tsx';
import { fieldValue } from './field-value.ts';
import { SubmitButton } from './submit-button.tsx';
import { TwoFactorFields } from './two-factor-fields.tsx';

type Props = {
  cancelKey: MessageKey;
  wrongKey: MessageKey;
  /** Puts something around the code, such as the steps before it; the code is then not where the screen starts. */
  around?: (code: ReactNode) => ReactNode;
};

/** The six digits and what follows from them; the same on both second-factor screens. */
export function CodeForm({ cancelKey, wrongKey, around }: Props) {
  const message = useMessage();
  const { page, place, saved, save, leave, comeBack, goToDocument } = useVisit();
  const { toScreen } = usePortalUrls();
  const [boxes, setBoxes] = useState<Boxes | null>(null);
  const [isWrong, setWrong] = useState(noticeOfSearch(place.search) === 'codeWrong');
  const [failure, setFailure] = useState<CallFailure | null>(null);

  async function send(code: string) {
    const outcome = await verifyCode(page.rules.basePath, code);
    if (outcome === 'right') {
      save({ loginHashFragment: null });
      return goToDocument(destinationAfterTwoFactor(saved, page.rules));
    }
    console.error('Two-factor code not verified:', outcome === 'wrong' ? outcome : outcome.name);
    if (outcome !== 'wrong' && outcome.name === 'signInExpired') {
      return goToDocument(toScreen('login', { notice: 'signInExpired' }));
    }
    setWrong(outcome === 'wrong');
    setFailure(outcome === 'wrong' ? null : outcome);
    if (outcome === 'wrong') setBoxes({ ...emptyBoxes });
    comeBack();
  }

  function move(next: Boxes) {
    setBoxes(next);
    const code = codeOf(next);
    const wasWhole = boxes !== null && codeOf(boxes) !== null;
    if (code && !wasWhole && leave('checking-code')) send(code);
  }

  const field = <CodeField boxes={boxes} error={isWrong ? message(wrongKey) : null} isFirst={!around} onMove={move} />;
  return (
    <CallForm
      call="twoFactorVerify"
      word="checking-code"
      failure={failure}
      isReady={(form) => isOneTimeCode(fieldValue(form, 'code'))}
      onSend={(form) => send(fieldValue(form, 'code'))}
    >
      {around ? around(field) : field}
      <TwoFactorFields />
      <SubmitButton>{message('twofa-verify')}</SubmitButton>
      <ChangeUserLinks textKey={cancelKey} />
    </CallForm>
  );
}
