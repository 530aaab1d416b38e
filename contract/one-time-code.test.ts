import { describe, expect, it } from 'vitest';
import { codeOfPaste, isOneTimeCode } from './one-time-code.ts';

describe('a one-time code', () => {
  it('is six ASCII digits', () => expect(isOneTimeCode('012345')).toBe(true));
  it.each(['', '12345', '1234567', '12345a', ' 123456', '123456\n', '１２３４５６', '٠١٢٣٤٥', '-12345', '1e1000'])(
    'is not %j',
    (text) => expect(isOneTimeCode(text)).toBe(false),
  );
});

describe('the code in pasted text', () => {
  it.each(['123456', ' 123456\n', '123 456', '123-456', '\t12 3456 ', '1 23456'])('%j is 123456', (text) =>
    expect(codeOfPaste(text)).toBe('123456'),
  );
  it.each(['12345', '1234567', '12 34 56', '123  456', 'code 123456', '123456 is yours', '', '123--456', '123456-'])(
    '%j has no code',
    (text) => expect(codeOfPaste(text)).toBeNull(),
  );
});
