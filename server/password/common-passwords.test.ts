import { dictionary } from '@zxcvbn-ts/language-common';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { eachRow } from '#testing/runs-all.ts';
import { isCommonPassword } from './common-passwords.ts';

const list = dictionary['passwords-common'];
const kept = list.filter((entry) => entry.length >= 7);
const toFullWidth = (text: string) => text.replace(/[!-~]/g, (c) => String.fromCharCode(c.charCodeAt(0) + 0xfee0));

describe('a common password', () => {
  // All of them are tested with the combined rules: new-password-problem.test.ts.
  test('PW-05 is any entry long enough to be chosen, from the first to the last', () => {
    expect(kept.length).toBeGreaterThan(28_000);
    const tried = kept.filter((_, at) => at < 500 || at % 50 === 0 || at === kept.length - 1);
    expect(tried.filter((entry) => !isCommonPassword(entry))).toEqual([]);
  });

  test('the list needs no folding: lower-case ASCII letters, digits and symbols', () => {
    expect(list.filter((entry) => !/^[!-@[-~]+$/.test(entry))).toEqual([]);
  });

  test('PW-05 is recognised in any case and width', () => {
    for (const password of ['TrustNo1', 'BASEBALL', toFullWidth('baseball'), toFullWidth('TrustNo1')])
      expect(isCommonPassword(password), password).toBe(true);
  });

  test('is a whole entry: not a part of one, one with additions, or two', () => {
    const known = new Set(list);
    const around = fc.constantFrom('', ' ', 'x', 'Q', '7', '"', ',', '\\', '\n', '","');
    const part = fc.tuple(fc.constantFrom(...kept), fc.nat(6), fc.integer({ min: 1, max: 20 }));
    const text = part.map(([entry, from, to]) => entry.slice(from, to));
    fc.assert(
      fc.property(around, text, around, text, around, (...parts) => {
        const password = parts.join('');
        expect(isCommonPassword(password)).toBe(password.length >= 7 && known.has(password.toLowerCase()));
      }),
    );
    for (const [first, second] of kept.slice(0, 500).map((entry, at) => [entry, kept[at + 1]]))
      expect(isCommonPassword(`${first}\n${second}`)).toBe(false);
  });

  test('is nothing else', () =>
    eachRow(['', 'monkey', '\n', ',', '"', '\ud83d', 'ı'.repeat(8)], (password) =>
      expect(isCommonPassword(password)).toBe(false),
    ));
});
