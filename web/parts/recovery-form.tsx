import { useEffect, useRef, useState } from 'react';
import { recoveryCodeOfText } from '#contract/recovery-code.ts';
import { useMessage } from '../messages.tsx';
import { useVisit } from '../visit.ts';
import { useCodeCheck } from './code-check.ts';
import { CodeCheckForm } from './code-check-form.tsx';
import { fieldValue, isFilled } from './field-value.ts';
import { TextField } from './text-field.tsx';

/** Room for any dashes and spaces; what the server reads. */
const longestEntry = 40;

/** One of the codes that were kept for when the phone is not at hand. */
export function RecoveryForm() {
  const message = useMessage();
  const { comeBack } = useVisit();
  const { said, say, check } = useCodeCheck();
  const [isMalformed, setMalformed] = useState(said?.name === 'malformed');
  const field = useRef<HTMLInputElement>(null);
  const isWrong = said?.name === 'wrong';

  // What was typed stays, for a slip to be put right.
  useEffect(() => {
    if (said?.name === 'wrong') field.current?.select();
  }, [said]);

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

  return (
    <CodeCheckForm
      said={said}
      isReady={(form) => isFilled(form, 'code')}
      onSend={(form) => send(fieldValue(form, 'code'))}
    >
      <TextField
        ref={field}
        className="entry"
        id="recovery-code"
        name="code"
        label={message('recovery-code')}
        autoComplete="off"
        autoCapitalize="characters"
        maxLength={longestEntry}
        required
        autoFocus
        error={isWrong ? message('recovery-wrong') : isMalformed ? message('recovery-malformed') : undefined}
        onInput={() => {
          if (isWrong) say(null);
          setMalformed(false);
        }}
      />
    </CodeCheckForm>
  );
}
