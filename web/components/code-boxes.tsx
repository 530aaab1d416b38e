import { type KeyboardEvent, useLayoutEffect, useRef, useState } from 'react';
import { codeLength, codeOfText, longestCodeText, plainDigits } from '#contract/codes.ts';
import { useApp } from '../app-context.ts';
import { FieldError } from './checked-field.tsx';

type Props = {
  /** Null until the script runs; then the plain field becomes boxes that keep what was typed. */
  boxes: Boxes | null;
  error: string | null;
  /** Changes with each answer, so that the same error is announced again. */
  errorKey: number;
  /** Whether the code is the screen's initial focus. */
  isFirst: boolean;
  onMove: (boxes: Boxes) => void;
  onRefused: () => void;
};

/** The six digits of a one-time code. */
export function CodeField(props: Props) {
  const { boxes, error, errorKey, isFirst, onMove } = props;
  const { message } = useApp();
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
        <CodeBoxes {...props} boxes={boxes} isFirst={isFirst || wasFocused.current} />
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
            maxLength={longestCodeText}
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

function CodeBoxes({ boxes, error, isFirst, onMove, onRefused }: Props & { boxes: Boxes }) {
  const { message, isLeaving } = useApp();
  const inputs = useRef<(HTMLInputElement | null)[]>([]);
  const mayFocus = useRef(isFirst);
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
          aria-invalid={error ? true : undefined}
          aria-describedby={error ? 'code-error' : undefined}
          // Not of changes: retyping the digit already in the box is none, but must advance.
          onInput={({ currentTarget: { value }, nativeEvent }) => {
            if ((nativeEvent as InputEvent).isComposing) setDraft({ index, text: value });
            else onMove(typed(boxes, index, value));
          }}
          onCompositionEnd={({ currentTarget }) => {
            setDraft(null);
            onMove(typed(boxes, index, currentTarget.value));
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

/**
 * The result of typing in a box: digits go on into the following boxes, a whole code fills all, anything else is refused. The
 * text holds the old digit and the new one in either order, since the caret may be on either side.
 */
export function typed(boxes: Boxes, index: number, text: string): Boxes {
  const whole = pasted(text);
  if (whole) return whole;
  const value = plainDigits(text);
  if (value === '') return emptied(boxes.digits, index);
  const added = value.replace(boxes.digits[index] ?? '', '') || value;
  if (!/^[0-9]+$/.test(added)) return { ...boxes, focus: index };
  const digits = boxes.digits.map((before, place) => added[place - index] ?? before);
  return { digits, focus: Math.min(index + added.length, last) };
}

/** The boxes filled with the code in a pasted text, or null if it has none. */
export function pasted(text: string): Boxes | null {
  const code = codeOfText(text);
  return code === null ? null : { digits: [...code], focus: last };
}

/** The move for a key, or null if the key moves nothing. */
export function keyed({ digits }: Boxes, index: number, key: string): Boxes | null {
  if (key === 'Delete') return emptied(digits, index);
  if (key === 'Backspace') return emptied(digits, digits[index] === '' ? Math.max(index - 1, 0) : index);
  const places: Record<string, number> = { ArrowLeft: index - 1, ArrowRight: index + 1, Home: 0, End: last };
  const focus = places[key];
  return focus === undefined ? null : { digits, focus: Math.min(Math.max(focus, 0), last) };
}

/** Boxes filled from what was typed into the plain field before the script ran. */
export function boxesOf(text: string): Boxes {
  return typed(emptyBoxes, 0, plainDigits(text).replace(/[^0-9]/g, ''));
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

function emptied(digits: readonly string[], index: number): Boxes {
  return { digits: digits.map((before, place) => (place === index ? '' : before)), focus: index };
}
