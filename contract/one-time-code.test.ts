import { describe, expect, it } from 'vitest';
import { eachRow } from '#test/support/runs-all.ts';
import { codeOfPaste, isOneTimeCode } from './one-time-code.ts';

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
