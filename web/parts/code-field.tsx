import { useLayoutEffect, useRef } from 'react';
import { codeLength } from '#contract/one-time-code.ts';
import { useMessage } from '../messages.tsx';
import { type Boxes, boxesOf } from './code-box-moves.ts';
import { CodeBoxes } from './code-boxes.tsx';
import { FieldError } from './field-error.tsx';

type Props = {
  /** Null until the script runs; then the plain field becomes boxes that keep what was typed. */
  boxes: Boxes | null;
  error: string | null;
  /** Changes with each answer, so that the same error is announced again. */
  errorKey: number;
  /** Whether the code is the screen's initial focus. */
  isFirst: boolean;
  onMove: (boxes: Boxes) => void;
};

/** The six digits of a one-time code. */
export function CodeField({ boxes, error, errorKey, isFirst, onMove }: Props) {
  const message = useMessage('code-digit');
  const plain = useRef<HTMLInputElement>(null);
  const wasFocused = useRef(false);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the change from field to boxes happens once
  useLayoutEffect(() => {
    wasFocused.current = document.activeElement === plain.current;
    onMove(boxesOf(plain.current?.value ?? ''));
  }, []);

  return (
    <fieldset>
      <legend className="sr">{message('code')}</legend>
      {boxes ? (
        <CodeBoxes boxes={boxes} isWrong={error !== null} takesFocus={isFirst || wasFocused.current} onMove={onMove} />
      ) : (
        <div className="control code-plain">
          <input
            ref={plain}
            name="code"
            inputMode="numeric"
            autoComplete="one-time-code"
            aria-label={message('code')}
            aria-invalid={error ? true : undefined}
            aria-describedby={error ? 'code-error' : undefined}
            maxLength={codeLength + 1}
            required
            // biome-ignore lint/a11y/noAutofocus: the code is what the screen is for
            autoFocus={isFirst}
          />
        </div>
      )}
      {error && (
        <FieldError key={errorKey} id="code-error">
          {error}
        </FieldError>
      )}
    </fieldset>
  );
}
