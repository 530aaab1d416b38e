import { type KeyboardEvent, useLayoutEffect, useRef, useState } from 'react';
import { codeLength } from '#contract/one-time-code.ts';
import { useMessage } from '../messages.tsx';
import { useVisit } from '../visit.ts';
import { type Boxes, composed, pasted, pressed, typed } from './code-box-moves.ts';

type Props = { boxes: Boxes; isWrong: boolean; takesFocus: boolean; onMove: (boxes: Boxes) => void };

/** Six boxes for six digits; code-box-moves has the moves. */
export function CodeBoxes({ boxes, isWrong, takesFocus, onMove }: Props) {
  const message = useMessage();
  const { isLeaving } = useVisit();
  const inputs = useRef<(HTMLInputElement | null)[]>([]);
  const mayFocus = useRef(takesFocus);
  // Text being composed stays in its box: moving it would break or repeat it.
  const [draft, setDraft] = useState<{ index: number; text: string } | null>(null);

  // The focus follows the boxes, but isn't taken from elsewhere when they first appear.
  useLayoutEffect(() => {
    const input = inputs.current[boxes.focus];
    if (mayFocus.current && input) {
      input.focus();
      input.select();
    }
    mayFocus.current = true;
  }, [boxes]);

  function onKeyDown(event: KeyboardEvent, index: number) {
    if (event.nativeEvent.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    const next = pressed(boxes, index, event.key);
    if (!next) return;
    event.preventDefault();
    onMove(next);
  }

  return (
    <div className="code">
      {boxes.digits.map((digit, index) => (
        <input
          // biome-ignore lint/suspicious/noArrayIndexKey: a box is its place
          key={index}
          id={`code-${index + 1}`}
          name={`code-${index + 1}`}
          ref={(input) => {
            inputs.current[index] = input;
          }}
          value={draft?.index === index ? draft.text : digit}
          inputMode="numeric"
          readOnly={isLeaving}
          autoComplete={index === 0 ? 'one-time-code' : 'off'}
          aria-label={message('code-digit', { position: index + 1, length: codeLength })}
          aria-invalid={isWrong || undefined}
          aria-describedby={isWrong ? 'code-error' : undefined}
          // Retyping the digit already in the box is no change to React, but must advance.
          onInput={({ currentTarget, nativeEvent }) => {
            const isSame = currentTarget.value === digit && !(nativeEvent as InputEvent).isComposing;
            if (isSame) onMove(typed(boxes, index, digit));
          }}
          onChange={({ target, nativeEvent }) => {
            if ((nativeEvent as InputEvent).isComposing) setDraft({ index, text: target.value });
            else onMove(typed(boxes, index, target.value));
          }}
          onCompositionEnd={({ currentTarget }) => {
            setDraft(null);
            onMove(composed(boxes, index, currentTarget.value));
          }}
          onKeyDown={(event) => onKeyDown(event, index)}
          onFocus={(event) => event.target.select()}
          onPaste={(event) => {
            event.preventDefault();
            onMove(pasted({ ...boxes, focus: index }, event.clipboardData.getData('text')));
          }}
        />
      ))}
      <input type="hidden" name="code" value={boxes.digits.join('')} />
    </div>
  );
}
