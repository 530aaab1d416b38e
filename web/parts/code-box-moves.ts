import { codeLength, codeOfPaste } from '#contract/one-time-code.ts';

/** The six boxes, each empty or one digit, and the one that has the focus. */
export type Boxes = { digits: readonly string[]; focus: number };

export const emptyBoxes: Boxes = { digits: Array(codeLength).fill(''), focus: 0 };

const last = codeLength - 1;

/** What a box holds after typing: a digit replaces and advances, six spread over all boxes, anything else is refused. */
export function typed(boxes: Boxes, index: number, value: string): Boxes {
  const code = codeOfPaste(value);
  if (code) return { digits: [...code], focus: last };
  if (value === '') return { digits: boxes.digits.with(index, ''), focus: index };
  const digit = newDigit(boxes.digits[index] ?? '', value);
  if (digit === null) return { ...boxes, focus: index };
  return { digits: boxes.digits.with(index, digit), focus: Math.min(index + 1, last) };
}

/** Exactly six digits fill all boxes; anything else changes nothing (decisions §5). */
export function pasted(boxes: Boxes, text: string): Boxes {
  const code = codeOfPaste(text);
  return code ? { digits: [...code], focus: last } : boxes;
}

/** The move of a key, or null when the key moves nothing. */
export function pressed(boxes: Boxes, index: number, key: string): Boxes | null {
  const { digits } = boxes;
  switch (key) {
    case 'Backspace':
      if (digits[index] !== '') return { digits: digits.with(index, ''), focus: index };
      return index === 0 ? { digits, focus: 0 } : { digits: digits.with(index - 1, ''), focus: index - 1 };
    case 'Delete':
      return { digits: digits.with(index, ''), focus: index };
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

/** The boxes of what was typed into the plain field before the script took over. */
export function boxesOf(text: string): Boxes {
  const digits = text.replace(/[^0-9]/g, '').slice(0, codeLength);
  return {
    digits: Array.from({ length: codeLength }, (_, index) => digits[index] ?? ''),
    focus: Math.min(digits.length, last),
  };
}

/** The whole code, or null while a box is empty. */
export function codeOf({ digits }: Boxes): string | null {
  return digits.every((digit) => digit !== '') ? digits.join('') : null;
}

/** A box holds its old digit and the new one, in either order, since the caret may stand on either side. */
function newDigit(old: string, value: string): string | null {
  const rest = old === '' ? value : value.replace(old, '');
  const digit = rest === '' ? old : rest;
  return /^[0-9]$/.test(digit) ? digit : null;
}
