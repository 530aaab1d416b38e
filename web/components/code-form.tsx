import { type ComponentProps, type ReactNode, type Ref, useEffect, useRef, useState } from 'react';
import { codeOfText, longestCodeText, recoveryCodeOfText } from '#contract/codes.ts';
import { queryNames } from '#contract/screens.ts';
import { useApp } from '../app-context.ts';
import type { MessageKey } from '../messages.ts';
import { isCodeSentViaEmail } from '../screen-title.ts';
import { CallForm, type Said, SignInOver, useCodeCheck } from './call-form.tsx';
import { CheckedField } from './checked-field.tsx';
import { type Boxes, CodeField, codeOf, completes, emptyBoxes } from './code-boxes.tsx';
import { fieldValue, isFilled, SubmitButton } from './portal-form.tsx';
import { ChangeUserLinks, ExitLink } from './screen-links.tsx';
import { SendAgain, TwoFactorFields } from './send-again.tsx';

type Props = {
  /** The heading and what it asks for, until there is nothing to enter any more. */
  head: ReactNode;
  cancelKey: MessageKey;
  links?: ReactNode;
  /** Wraps the code, for example in the steps before it; the code then doesn't get the initial focus. */
  around?: (code: ReactNode) => ReactNode;
};

/** The six digits and their submission; the same on both second-factor screens. */
export function CodeForm({ head, cancelKey, links, around }: Props) {
  const { place, leave, isLeaving, message } = useApp();
  const { said, say, check, checks } = useCodeCheck();
  const isEmail = isCodeSentViaEmail(place.search);
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
    if (said?.name === 'malformed' && boxes !== null) say(null);
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

  if (said?.name === 'signInExpired') return <SignInOver {...said} />;
  const isWrong = said?.name === 'wrong' || said?.name === 'notChecked';
  const wrongText = isWrong ? message(isEmail ? 'twofa-email-wrong' : 'twofa-error-try-again-with-code') : null;
  const field = (
    <CodeField
      boxes={boxes}
      error={said?.name === 'malformed' ? message('twofa-malformed') : wrongText}
      errorKey={checks}
      isFirst={!around}
      onMove={move}
      onRefused={() => say({ name: 'malformed' })}
    />
  );
  return (
    <>
      {head}
      <CodeCheckForm
        said={said}
        isReady={(form) => codeOfText(fieldValue(form, 'code')) !== null}
        onSend={(form) => send(codeOfText(fieldValue(form, 'code')) ?? '')}
      >
        {around ? around(field) : field}
        <RememberDevice ref={remember} />
      </CodeCheckForm>
      {isEmail ? (
        <SendAgain cancelKey={cancelKey} onAnswer={onSendAnswer} />
      ) : (
        <ExitLink textKey={cancelKey}>{links}</ExitLink>
      )}
    </>
  );
}

type CodeCheckFormProps = Pick<ComponentProps<typeof CallForm>, 'said' | 'isReady' | 'onSend' | 'children'>;

/** A form whose code is checked, with notices above it; a wrong code is reported beside the field. */
export function CodeCheckForm({ children, ...form }: CodeCheckFormProps) {
  const { message } = useApp();
  return (
    <CallForm
      call="twoFactorVerify"
      // Set here and not on the tick box: Firefox would tick it again on a reload.
      autoComplete="off"
      word="checking-code"
      {...form}
    >
      {children}
      <TwoFactorFields />
      <SubmitButton>{message('twofa-verify')}</SubmitButton>
    </CallForm>
  );
}

/** Off on every load: browsers must not restore it. The choice before a wrong code is kept. */
function RememberDevice({ ref }: { ref: Ref<HTMLInputElement> }) {
  const { message, asked, notice, secondFactor } = useApp();
  if (!secondFactor?.mayRemember) return null;
  const wasSaid = notice !== null && asked('remember') === 'true';
  return (
    <label className="check">
      <input ref={ref} type="checkbox" name={queryNames.remember} defaultChecked={wasSaid} />
      {message('twofa-remember')}
    </label>
  );
}

const errors: { [name in NonNullable<Said>['name']]?: MessageKey } = {
  wrong: 'recovery-wrong',
  notChecked: 'general-error-something-went-wrong',
  malformed: 'recovery-malformed',
};

/** Asks for a recovery code, for when the phone is not at hand. */
export function RecoveryForm({ head, links }: { head: ReactNode; links: ReactNode }) {
  const { message, comeBack } = useApp();
  const { said, say, check } = useCodeCheck();
  const field = useRef<HTMLInputElement>(null);
  const errorKey = said ? errors[said.name] : undefined;

  // Keeps the entry so that a typo can be corrected.
  useEffect(() => {
    if (said?.name === 'malformed') field.current?.focus();
    else if (said && errors[said.name]) field.current?.select();
  }, [said]);

  function send(text: string) {
    const code = recoveryCodeOfText(text);
    if (code) check(code, false);
    else {
      say({ name: 'malformed' });
      comeBack();
    }
  }

  if (said?.name === 'signInExpired') return <SignInOver {...said} />;
  return (
    <>
      {head}
      <CodeCheckForm
        said={said}
        isReady={(form) => isFilled(form, 'code')}
        onSend={(form) => send(fieldValue(form, 'code'))}
      >
        <CheckedField
          ref={field}
          className="entry"
          id="recovery-code"
          name="code"
          label={message('recovery-code')}
          autoComplete="off"
          autoCapitalize="characters"
          maxLength={longestCodeText}
          required
          autoFocus
          error={errorKey && message(errorKey)}
          onInput={() => errorKey && say(null)}
        />
      </CodeCheckForm>
      <ChangeUserLinks textKey="twofa-change-user">{links}</ChangeUserLinks>
    </>
  );
}
