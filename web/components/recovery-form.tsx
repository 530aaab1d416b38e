import { type ReactNode, useEffect, useRef, useState } from 'react';
import { longestCodeText, recoveryCodeOfText } from '#contract/codes.ts';
import { useApp, useMessage } from '../app-context.ts';
import { CheckedField } from './checked-field.tsx';
import { useCodeCheck } from './code-check.ts';
import { CodeCheckForm } from './code-form.tsx';
import { fieldValue, isFilled } from './portal-form.tsx';
import { ChangeUserLinks } from './screen-links.tsx';
import { isOver, SignInOver } from './sign-in-over.tsx';

/** Asks for a recovery code, for when the phone is not at hand. */
export function RecoveryForm({ head, links }: { head: ReactNode; links: ReactNode }) {
  const message = useMessage();
  const { comeBack } = useApp();
  const { said, say, check } = useCodeCheck();
  const [isMalformed, setMalformed] = useState(said?.name === 'malformed');
  const field = useRef<HTMLInputElement>(null);
  const isWrong = said?.name === 'wrong';
  const isNotChecked = said?.name === 'notChecked';

  // Keeps the entry so that a typo can be corrected.
  useEffect(() => {
    if (said?.name === 'wrong' || said?.name === 'notChecked') field.current?.select();
  }, [said]);

  const errorKey = isWrong
    ? 'recovery-wrong'
    : isNotChecked
      ? 'general-error-something-went-wrong'
      : isMalformed
        ? 'recovery-malformed'
        : undefined;

  function send(text: string) {
    const code = recoveryCodeOfText(text);
    if (code) {
      check(code, false);
    } else {
      say(null);
      setMalformed(true);
      comeBack();
      field.current?.focus();
    }
  }

  if (isOver(said)) return <SignInOver said={said} />;
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
          onInput={() => {
            if (isWrong || isNotChecked) say(null);
            setMalformed(false);
          }}
        />
      </CodeCheckForm>
      <ChangeUserLinks textKey="twofa-change-user">{links}</ChangeUserLinks>
    </>
  );
}
