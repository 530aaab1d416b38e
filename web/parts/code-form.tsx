import { type ReactNode, useRef, useState } from 'react';
import { isOneTimeCode } from '#contract/one-time-code.ts';
import { type MessageKey, useMessage } from '../messages.tsx';
import { isCodeSentViaEmail } from '../screen-title.ts';
import { useVisit } from '../visit.ts';
import { type Boxes, codeOf, completes, emptyBoxes } from './code-box-moves.ts';
import { type Said, useCodeCheck } from './code-check.ts';
import { CodeCheckForm } from './code-check-form.tsx';
import { CodeField } from './code-field.tsx';
import { fieldValue } from './field-value.ts';
import { RememberDevice } from './remember-device.tsx';
import { SendAgain } from './send-again.tsx';
import { isOver, SignInOver, signInOverTexts } from './sign-in-over.tsx';
import { WayOut } from './way-out.tsx';
import { useWrongCodeText } from './wrong-code-text.ts';

type Props = {
  /** The heading and what it asks for, until there is nothing to enter any more. */
  head: ReactNode;
  cancelKey: MessageKey;
  /** Additional links, beside the way out. */
  links?: ReactNode;
  /** Wraps the code, for example in the steps before it; the code then doesn't get the initial focus. */
  around?: (code: ReactNode) => ReactNode;
};

/** The six digits and their submission; the same on both second-factor screens. */
export function CodeForm({ head, cancelKey, links, around }: Props) {
  const { place, leave, isLeaving } = useVisit();
  const { said, say, check, checks } = useCodeCheck();
  const message = useMessage('twofa-malformed', ...signInOverTexts);
  const textOf = useWrongCodeText();
  const [boxes, setBoxes] = useState<Boxes | null>(null);
  const remember = useRef<HTMLInputElement>(null);
  // Submits automatically only once; after that the button does.
  const lastSent = useRef<string | null>(null);

  async function send(code: string) {
    lastSent.current = code;
    const outcome = await check(code, remember.current?.checked === true);
    if (outcome === 'wrong') {
      lastSent.current = null;
      setBoxes({ ...emptyBoxes });
    } else if (outcome === 'failed') {
      // The digits stay for the button, and the focus returns to them.
      setBoxes((current) => current && { ...current });
    }
  }

  function move(next: Boxes) {
    if (isLeaving) return;
    setBoxes(next);
    const code = completes(boxes, next) ? codeOf(next) : null;
    if (code && code !== lastSent.current && leave('checking-code')) send(code);
  }

  /** After a new code the field starts empty; if none came, the focus returns to where it was. */
  function onSendAnswer(answer: Said) {
    say(answer);
    const isNew = answer?.name === 'notice' && answer.notice === 'codeSent';
    if (isNew) setBoxes({ ...emptyBoxes });
    else if (!answer || answer.name === 'notice') setBoxes((current) => current && { ...current });
  }

  if (isOver(said)) return <SignInOver said={said} />;
  const field = (
    <CodeField
      boxes={boxes}
      error={said?.name === 'malformed' ? message('twofa-malformed') : textOf(said)}
      errorKey={checks}
      isFirst={!around}
      onMove={move}
    />
  );
  return (
    <>
      {head}
      <CodeCheckForm
        said={said}
        isReady={(form) => isOneTimeCode(fieldValue(form, 'code'))}
        onSend={(form) => send(fieldValue(form, 'code'))}
      >
        {around ? around(field) : field}
        <RememberDevice ref={remember} />
      </CodeCheckForm>
      {isCodeSentViaEmail(place) ? (
        <SendAgain cancelKey={cancelKey} onAnswer={onSendAnswer} />
      ) : (
        <WayOut textKey={cancelKey}>{links}</WayOut>
      )}
    </>
  );
}
