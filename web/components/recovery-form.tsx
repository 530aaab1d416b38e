import { type ReactNode, useEffect, useRef } from 'react';
import { longestCodeText, recoveryCodeOfText } from '#contract/codes.ts';
import { useApp } from '../app-context.ts';
import type { MessageKey } from '../messages.ts';
import { CheckedField } from './checked-field.tsx';
import { type Said, useCodeCheck } from './code-check.ts';
import { CodeCheckForm } from './code-form.tsx';
import { fieldValue, isFilled } from './portal-form.tsx';
import { ChangeUserLinks } from './screen-links.tsx';
import { SignInOver } from './sign-in-over.tsx';

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
