import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eachRow } from '#test/support/runs-all.ts';
import {
  codeOfText,
  groupedRecoveryCode,
  plainDigits,
  recoveryCodeAlphabet,
  recoveryCodeLetters,
  recoveryCodeOfText,
} from './codes.ts';

describe('a one-time code', () => {
  it('is found in what is typed or pasted, in the digits of every script', () => {
    const rows = [
      '123456',
      ' 123456\n',
      '123 456',
      '1 2 3 4 5 6',
      '12--34 56',
      '123–456',
      '123\u2066456',
      '\u200e123456\u200e',
    ];
    const scripts = ['１２３４５６', '١٢٣٤٥٦', '۱۲۳۴۵۶', '१२३४५६', '𝟏𝟐𝟑𝟜𝟝𝟞', '१२३ ４５６'];
    const sentences = ['Your code is 123456', 'Code: 123-456. It ends in 10 minutes.', '验证码123456'];
    eachRow([...rows, ...scripts, ...sentences], (text) => expect(codeOfText(text)).toBe('123456'));
  });
  it('has the digits that the platform itself writes in each script', () => {
    for (const script of Intl.supportedValuesOf('numberingSystem')) {
      const written = new Intl.NumberFormat(`en-u-nu-${script}`, { useGrouping: false }).format(9_876_543_210);
      if (/^\p{Nd}+$/u.test(written)) expect([script, plainDigits(written)]).toEqual([script, '9876543210']);
    }
  });
  it('is six digits, once', () =>
    eachRow(
      [
        '',
        '12345',
        '1234567',
        '12345a',
        'a123456',
        '1e1000',
        '٠١٢٣٤',
        '123456 or 654321?',
        '1234-56AB-CDEF',
        'AB12-3456-CDEF',
      ],
      (text) => expect(codeOfText(text)).toBeNull(),
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
        ['\u200e７k٢m‑q4xd 9fhb', '7K2MQ4XD9FHB'],
      ],
      ([text, code]) => expect(recoveryCodeOfText(text)).toBe(code),
    ));

  it('is nothing else', () =>
    eachRow(['', '123456', '7K2M-Q4XD-9FH', '7K2M-Q4XD-9FHBB', '7K2M-Q4XD-9FHU', '7K2M_Q4XD_9FHB'], (text) =>
      expect(recoveryCodeOfText(text)).toBeNull(),
    ));
});
