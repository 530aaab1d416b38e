import { expect, it } from 'vitest';
import { eachRow } from '#test/support/runs-all.ts';
import { type Boxes, boxesOf, completes, emptyBoxes, keyed, pasted, typed } from './code-boxes.tsx';

const digitsOf = ({ digits }: Boxes) => digits.map((digit) => digit || '_').join('');
const boxes = (text: string, focus = 0): Boxes => ({
  digits: [...text].map((digit) => (digit === '_' ? '' : digit)),
  focus,
});

/** What a move makes of the boxes, and where the focus is then. */
const look = (moved: Boxes | null) => moved && [digitsOf(moved), moved.focus];

it('a typed digit moves on', () =>
  eachRow(
    [
      ['a digit advances', '______', 0, '4', '4_____', 1],
      ['a letter is refused', '12____', 2, 'x', '12____', 2],
      ['a digit after the old one replaces it', '12____', 1, '27', '17____', 2],
      ['a digit before the old one replaces it', '12____', 1, '72', '17____', 2],
      ['two digits at once go on', '______', 0, '12', '12____', 2],
      ['six at once are spread', '9_____', 0, '123456', '123456', 5],
      ['six after an old digit are spread when they are six', '______', 3, '123 456', '123456', 5],
      ['nothing empties the box', '123456', 2, '', '12_456', 2],
      ['a wide digit is the same digit', '12____', 2, '３', '123___', 3],
      ['so is a digit of another script', '______', 0, '٤', '4_____', 1],
      ['what an input method has not finished is refused', '12____', 2, 'ni', '12____', 2],
      ['what it has composed counts as typed', '______', 0, '１', '1_____', 1],
      ['some digits composed', '129___', 2, '34', '1234__', 4],
      ['too many composed', '1234__', 4, '５６７', '123456', 5],
      ['nothing composed', '12____', 2, '', '12____', 2],
      ['a digit and a letter composed', '12____', 2, '3か', '12____', 2],
    ],
    ([_name, before, index, value, ...after]) => expect(look(typed(boxes(before, index), index, value))).toEqual(after),
  ));

it('a key moves or deletes', () =>
  eachRow(
    [
      ['Backspace', '123___', 2, '12____', 2],
      ['Backspace', '123___', 3, '12____', 2],
      ['Backspace', '______', 0, '______', 0],
      ['Delete', '123456', 2, '12_456', 2],
      ['ArrowLeft', '123456', 0, '123456', 0],
      ['ArrowLeft', '123456', 3, '123456', 2],
      ['ArrowRight', '123456', 5, '123456', 5],
      ['Home', '123456', 3, '123456', 0],
      ['End', '123456', 3, '123456', 5],
    ],
    ([key, before, index, ...after]) => expect(look(keyed(boxes(before, index), index, key))).toEqual(after),
  ));

it('another key moves nothing', () =>
  eachRow(['Enter', 'Tab', 'a', '1'], (key) => expect(keyed(emptyBoxes, 0, key)).toBeNull()));

it('six pasted digits fill all boxes, and anything else is refused', () => {
  for (const text of ['123456', ' 123 456 ', '１２３　４５６', '١٢٣٤٥٦', 'Your code is 123456'])
    expect(look(pasted(text))).toEqual(['123456', 5]);
  for (const text of ['12345', '1234567', 'abc', '']) expect(pasted(text)).toBeNull();
});

it('what a form kept from before the script ran fills the boxes', () =>
  eachRow(
    [
      ['', '______', 0],
      ['12 3', '123___', 3],
      ['1234567', '123456', 5],
    ],
    ([text, ...after]) => expect(look(boxesOf(text))).toEqual(after),
  ));

it('a move completes the code, which is told apart from a change of one digit', () =>
  eachRow(
    [
      ['when it fills the only empty box', '1_3456', '123456', true],
      ['when all come at once over another code', '123456', '654321', true],
      ['when all come before there were boxes', null, '123456', true],
      ['not when one digit of a whole one changes', '123456', '723456', false],
      ['not when nothing changes', '123456', '123456', false],
      ['not while one is missing', '1234__', '12345_', false],
    ],
    ([_name, before, after, isWhole]) =>
      expect(completes(before === null ? null : boxes(before), boxes(after))).toBe(isWhole),
  ));
