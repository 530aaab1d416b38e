import { type KeyboardEvent, useLayoutEffect, useRef, useState } from 'react';
import { codeLength } from '#contract/one-time-code.ts';
import { useMessage } from '../messages.tsx';
import { type Boxes, codeOf, pasted, pressed, typed } from './code-box-moves.ts';

type Props = { first: Boxes; isWrong: boolean; onComplete: (code: string) => void };

/** Six boxes for six digits; the moves are in code-box-moves. */
export function CodeBoxes({ first, isWrong, onComplete }: Props) {
  const message = useMessage();
  const [boxes, setBoxes] = useState(first);
  const inputs = useRef<(HTMLInputElement | null)[]>([]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: new boxes take the focus once
  useLayoutEffect(() => inputs.current[first.focus]?.focus(), []);

  function move(next: Boxes) {
    setBoxes(next);
    inputs.current[next.focus]?.focus();
    inputs.current[next.focus]?.select();
    const code = codeOf(next);
    if (code && codeOf(boxes) === null) onComplete(code);
  }

  function onKeyDown(event: KeyboardEvent, index: number) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = pressed(boxes, index, event.key);
    if (!next) return;
    event.preventDefault();
    move(next);
  }

  return (
    <div className="code">
      <input type="hidden" name="code" value={boxes.digits.join('')} />
      {boxes.digits.map((digit, index) => (
        <input
          // biome-ignore lint/suspicious/noArrayIndexKey: a box is its place
          key={index}
          ref={(input) => {
            inputs.current[index] = input;
          }}
          value={digit}
          inputMode="numeric"
          autoComplete={index === 0 ? 'one-time-code' : 'off'}
          aria-label={message('code-digit', { position: index + 1, length: codeLength })}
          aria-invalid={isWrong || undefined}
          aria-describedby={isWrong ? 'code-error' : undefined}
          onChange={(event) => move(typed(boxes, index, event.target.value))}
          onKeyDown={(event) => onKeyDown(event, index)}
          onFocus={(event) => event.target.select()}
          onPaste={(event) => {
            event.preventDefault();
            move(pasted({ ...boxes, focus: index }, event.clipboardData.getData('text')));
          }}
        />
      ))}
    </div>
  );
}
