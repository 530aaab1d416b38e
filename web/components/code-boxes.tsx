import { type KeyboardEvent, useLayoutEffect, useRef, useState } from 'react';
import { codeLength, codeOfText, plainDigits } from '#contract/codes.ts';
import { useApp } from '../app-context.ts';

type Props = {
  boxes: Boxes;
  isWrong: boolean;
  takesFocus: boolean;
  onMove: (boxes: Boxes) => void;
  /** Something else than a code was pasted. */
  onRefused: () => void;
};

/** Six boxes for six digits; code-box-moves has the moves. */
export function CodeBoxes({ boxes, isWrong, takesFocus, onMove, onRefused }: Props) {
  const { message, isLeaving } = useApp();
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
    const next = keyed(boxes, index, event.key);
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
            const next = pasted(event.clipboardData.getData('text'));
            if (next) onMove(next);
            else onRefused();
          }}
        />
      ))}
      <input type="hidden" name="code" value={boxes.digits.join('')} />
    </div>
  );
}

/** The six boxes, each empty or one digit, and the focused one. */
export type Boxes = { digits: readonly string[]; focus: number };

export const emptyBoxes: Boxes = { digits: Array(codeLength).fill(''), focus: 0 };

const last = codeLength - 1;

/** The result of typing in a box: a digit replaces and advances, six fill all boxes, anything else is refused. */
export function typed(boxes: Boxes, index: number, text: string): Boxes {
  const whole = pasted(text);
  if (whole) return whole;
  const value = plainDigits(text);
  if (value === '') return { digits: put(boxes.digits, index, ''), focus: index };
  const digit = newDigit(boxes.digits[index] ?? '', value);
  if (digit === null) return { ...boxes, focus: index };
  return { digits: put(boxes.digits, index, digit), focus: Math.min(index + 1, last) };
}

/** Text that an input method composed in a box: several digits continue into the following boxes. */
export function composed(boxes: Boxes, index: number, text: string): Boxes {
  const value = plainDigits(text);
  if (!/^[0-9]{2,5}$/.test(value)) return typed(boxes, index, value);
  const digits = [...value.slice(0, codeLength - index)];
  return digits.reduce((now, digit, step) => typed(now, index + step, digit), boxes);
}

/** The boxes filled with the code in a pasted text, or null if it has none. */
export function pasted(text: string): Boxes | null {
  const code = codeOfText(text);
  return code === null ? null : { digits: [...code], focus: last };
}

/** The move for a key, or null if the key moves nothing. */
export function keyed(boxes: Boxes, index: number, key: string): Boxes | null {
  const { digits } = boxes;
  switch (key) {
    case 'Backspace':
      if (digits[index] !== '') return { digits: put(digits, index, ''), focus: index };
      return index === 0 ? { digits, focus: 0 } : { digits: put(digits, index - 1, ''), focus: index - 1 };
    case 'Delete':
      return { digits: put(digits, index, ''), focus: index };
    case 'ArrowLeft':
      return { digits, focus: Math.max(index - 1, 0) };
    case 'ArrowRight':
      return { digits, focus: Math.min(index + 1, last) };
    case 'Home':
      return { digits, focus: 0 };
    case 'End':
      return { digits, focus: last };
    default:
      return null;
  }
}

/** Boxes filled from what was typed into the plain field before the script ran. */
export function boxesOf(text: string): Boxes {
  const digits = plainDigits(text)
    .replace(/[^0-9]/g, '')
    .slice(0, codeLength);
  return {
    digits: Array.from({ length: codeLength }, (_, index) => digits[index] ?? ''),
    focus: Math.min(digits.length, last),
  };
}

/** The complete code, or null while a box is empty. */
export function codeOf({ digits }: Boxes): string | null {
  return digits.every((digit) => digit !== '') ? digits.join('') : null;
}

/** Whether a move completed the code: it filled the last empty box, or entered a whole code at once. */
export function completes(before: Boxes | null, after: Boxes): boolean {
  if (codeOf(after) === null) return false;
  if (before === null || codeOf(before) === null) return true;
  return after.digits.filter((digit, index) => digit !== before.digits[index]).length > 1;
}

/** A box holds its old and new digit in either order, since the caret may be on either side. */
function newDigit(old: string, value: string): string | null {
  const rest = old === '' ? value : value.replace(old, '');
  const digit = rest === '' ? old : rest;
  return /^[0-9]$/.test(digit) ? digit : null;
}

function put(digits: readonly string[], index: number, digit: string): readonly string[] {
  return digits.map((before, place) => (place === index ? digit : before));
}
