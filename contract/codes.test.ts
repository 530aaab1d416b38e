import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eachRow } from '#test/support/runs-all.ts';
import {
  codeOfPaste,
  groupedRecoveryCode,
  isOneTimeCode,
  recoveryCodeAlphabet,
  recoveryCodeLetters,
  recoveryCodeOfText,
} from './codes.ts';

describe('a one-time code', () => {
  it('is six ASCII digits', () => expect(isOneTimeCode('012345')).toBe(true));
  it('is six digits and nothing else', () =>
    eachRow(
      ['', '12345', '1234567', '12345a', ' 123456', '123456\n', '１２３４５６', '٠١٢٣٤٥', '-12345', '1e1000'],
      (text) => expect(isOneTimeCode(text)).toBe(false),
    ));
});

describe('the code in pasted text', () => {
  it('is found in what was pasted', () =>
    eachRow(['123456', ' 123456\n', '123 456', '123-456', '\t12 3456 ', '1 23456'], (text) =>
      expect(codeOfPaste(text)).toBe('123456'),
    ));
  it('is not found where there is none', () =>
    eachRow(
      ['12345', '1234567', '12 34 56', '123  456', 'code 123456', '123456 is yours', '', '123--456', '123456-'],
      (text) => expect(codeOfPaste(text)).toBeNull(),
    ));
});

const letters = fc
  .array(fc.constantFrom(...recoveryCodeAlphabet), { minLength: recoveryCodeLetters, maxLength: recoveryCodeLetters })
  .map((chosen) => chosen.join(''));

describe('a recovery code', () => {
  it('is shown in three groups of four', () => expect(groupedRecoveryCode('7K2MQ4XD9FHB')).toBe('7K2M-Q4XD-9FHB'));

  it('is read in any case, with any dashes and spaces, as people type it', () => {
    const gap = fc.constantFrom('', ' ', '-', '‐', '–', '—', ' - ', '\t', '\u00a0');
    fc.assert(
      fc.property(
        letters,
        fc.array(gap, { minLength: 13, maxLength: 13 }),
        fc.func(fc.boolean()),
        (code, gaps, isLow) => {
          const typed = [...code].map((letter, at) => gaps[at] + (isLow(at) ? letter.toLowerCase() : letter)).join('');
          expect(recoveryCodeOfText(typed + gaps[12])).toBe(code);
        },
      ),
    );
  });

  it('is read however it is written', () =>
    eachRow(
      [
        ['7k2m q4xd 9fhb', '7K2MQ4XD9FHB'],
        ['oOiIlL000111', '001111000111'],
      ],
      ([text, code]) => expect(recoveryCodeOfText(text)).toBe(code),
    ));

  it('is nothing else', () =>
    eachRow(
      ['', '123456', '7K2M-Q4XD-9FH', '7K2M-Q4XD-9FHBB', '7K2M-Q4XD-9FHU', '7K2M_Q4XD_9FHB', '７K2MQ4XD9FHB'],
      (text) => expect(recoveryCodeOfText(text)).toBeNull(),
    ));
});
