import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Boxes, boxesOf, codeOf, emptyBoxes, pasted, pressed, typed } from './code-box-moves.ts';

const digitsOf = ({ digits }: Boxes) => digits.map((digit) => digit || '_').join('');
const boxes = (text: string, focus = 0): Boxes => ({
  digits: [...text].map((digit) => (digit === '_' ? '' : digit)),
  focus,
});

describe('typing', () => {
  it.each([
    ['a digit advances', '______', 0, '4', '4_____', 1],
    ['the last box keeps the focus', '12345_', 5, '6', '123456', 5],
    ['a letter is refused', '12____', 2, 'x', '12____', 2],
    ['a letter beside the digit is refused', '12____', 1, '2x', '12____', 1],
    ['a digit after the old one replaces it', '12____', 1, '27', '17____', 2],
    ['a digit before the old one replaces it', '12____', 1, '72', '17____', 2],
    ['the same digit again advances', '12____', 1, '22', '12____', 2],
    ['two digits at once are refused', '______', 0, '12', '______', 0],
    ['six at once are spread', '9_____', 0, '123456', '123456', 5],
    ['six after an old digit are spread when they are six', '______', 3, '123 456', '123456', 5],
    ['nothing empties the box', '123456', 2, '', '12_456', 2],
    ['other digits than ASCII are refused', '______', 0, '٤', '______', 0],
  ])('%s', (_name, before, index, value, after, focus) => {
    const moved = typed(boxes(before, index), index, value);
    expect([digitsOf(moved), moved.focus]).toEqual([after, focus]);
  });
});

describe('keys', () => {
  it.each([
    ['Backspace', '123___', 2, '12____', 2],
    ['Backspace', '123___', 3, '12____', 2],
    ['Backspace', '______', 0, '______', 0],
    ['Delete', '123456', 2, '12_456', 2],
    ['ArrowLeft', '123456', 0, '123456', 0],
    ['ArrowLeft', '123456', 3, '123456', 2],
    ['ArrowRight', '123456', 3, '123456', 4],
    ['ArrowRight', '123456', 5, '123456', 5],
    ['Home', '123456', 3, '123456', 0],
    ['End', '123456', 3, '123456', 5],
  ])('%s on %s in box %i', (key, before, index, after, focus) => {
    const moved = pressed(boxes(before, index), index, key) as Boxes;
    expect([digitsOf(moved), moved.focus]).toEqual([after, focus]);
  });
  it.each(['Enter', 'Tab', 'a', '1', 'F5'])('%s moves nothing', (key) =>
    expect(pressed(emptyBoxes, 0, key)).toBeNull(),
  );
});

describe('pasting', () => {
  it.each(['123456', ' 123 456 ', '123-456'])('%j fills all boxes', (text) =>
    expect(digitsOf(pasted(boxes('98____', 2), text))).toBe('123456'),
  );
  it.each(['12345', '1234567', 'abc', '', '12 34 56'])('%j changes nothing', (text) => {
    const before = boxes('98____', 2);
    expect(pasted(before, text)).toBe(before);
  });
});

describe('what was typed before the script', () => {
  it.each([
    ['', '______', 0],
    ['12 3', '123___', 3],
    ['123456', '123456', 5],
    ['1234567', '123456', 5],
  ])('%j', (text, after, focus) => {
    const moved = boxesOf(text);
    expect([digitsOf(moved), moved.focus]).toEqual([after, focus]);
  });
});

describe('whatever is typed, pressed and pasted', () => {
  const move = fc.oneof(
    fc.record({ kind: fc.constant('type' as const), text: fc.string({ maxLength: 8 }) }),
    fc.record({ kind: fc.constant('type' as const), text: fc.stringMatching(/^[0-9]{1,2}$/) }),
    fc.record({ kind: fc.constant('paste' as const), text: fc.stringMatching(/^[0-9 -]{5,8}$/) }),
    fc.record({
      kind: fc.constant('press' as const),
      text: fc.constantFrom('Backspace', 'Delete', 'ArrowLeft', 'ArrowRight', 'Home', 'End', 'Enter', 'x'),
    }),
  );

  function apply(before: Boxes, { kind, text }: { kind: 'type' | 'paste' | 'press'; text: string }): Boxes {
    if (kind === 'paste') return pasted(before, text);
    if (kind === 'press') return pressed(before, before.focus, text) ?? before;
    return typed(before, before.focus, (before.digits[before.focus] ?? '') + text);
  }

  it('there are six boxes, each empty or one digit, and the focus is on one of them', () =>
    fc.assert(
      fc.property(fc.array(move, { maxLength: 40 }), (moves) => {
        const after = moves.reduce(apply, emptyBoxes);
        expect(after.digits).toHaveLength(6);
        for (const digit of after.digits) expect(digit).toMatch(/^[0-9]?$/);
        expect(after.focus).toBeGreaterThanOrEqual(0);
        expect(after.focus).toBeLessThan(6);
      }),
    ));

  it('six digits typed one by one are the code', () =>
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9]{6}$/), (code) => {
        const after = [...code].reduce((now, digit) => apply(now, { kind: 'type', text: digit }), emptyBoxes);
        expect(codeOf(after)).toBe(code);
      }),
    ));

  it('Backspace often enough empties all boxes from the last', () =>
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9]{6}$/), (code) => {
        const back = { kind: 'press' as const, text: 'Backspace' };
        const after = Array(12).fill(back).reduce(apply, pasted(emptyBoxes, code));
        expect(after).toEqual(emptyBoxes);
      }),
    ));
});
