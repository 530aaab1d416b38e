import { useLayoutEffect, useRef, useState } from 'react';
import { codeLength } from '#contract/one-time-code.ts';
import { useMessage } from '../messages.tsx';
import { type Boxes, boxesOf } from './code-box-moves.ts';
import { CodeBoxes } from './code-boxes.tsx';
import { FieldError } from './field-error.tsx';

type Props = { error: string | null; /** Counts refusals: each empties the boxes. */ attempt: number; onComplete: (code: string) => void };

/** The six digits: one plain field until the script runs, then boxes that keep what was typed. */
export function CodeField({ error, attempt, onComplete }: Props) {
  const message = useMessage();
  const plain = useRef<HTMLInputElement>(null);
  const [boxes, setBoxes] = useState<Boxes | null>(null);
  useLayoutEffect(() => setBoxes(boxesOf(plain.current?.value ?? '')), []);
  return (
    <fieldset>
      <legend className="sr">{message('code')}</legend>
      {boxes ? (
        <CodeBoxes key={attempt} first={attempt === 0 ? boxes : boxesOf('')} isWrong={error !== null} onComplete={onComplete} />
      ) : (
        <div className="control code-plain">
          <input
            ref={plain}
            name="code"
            inputMode="numeric"
            autoComplete="one-time-code"
            aria-label={message('code')}
            maxLength={codeLength + 1}
            required
            autoFocus
          />
        </div>
      )}
      {error && <FieldError id="code-error">{error}</FieldError>}
    </fieldset>
  );
}
