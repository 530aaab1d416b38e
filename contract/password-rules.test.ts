import { describe, expect, it } from 'vitest';
import { eachRow } from '#test/support/runs-all.ts';
import {
  brokenPasswordRules,
  isPossiblePassword,
  passwordScore,
  popularEntries,
  popularEntryIn,
} from './password-rules.ts';

/** Passwords and their scores (PW-06). */
const passwordScoreVectors: readonly (readonly [password: string, score: number])[] = [
  ['', 0],
  ['aaaaaaa', 2],
  ['aA1!', 4],
  ['aaAA11', 6],
  ['aaAA1', 5],
  ['aaAA1x?', 5],
  ['aaAA11!!', 8],
  ['aaAA11!!x', 9],
  ['éééééééé', 0],
  ['lowercaseonly', 7],
  ['~!@#$%^&*()_-', 7],
  ['""""""""', 0],
  ...[...'~!@#$%^&*()_-'].map((symbol) => [symbol, 1] as const),
  // Just below and above the limit, by each part of the sum: length, digits, lower and upper case, symbols.
  ['lowercasexx', 5],
  ['lowercasexxx', 6],
  ['8592736', 2],
  ['85927364018', 5],
  ['859273640182', 6],
  ['kk1MM??', 5],
  ['kk11MM?', 6],
  ['kMM11??', 5],
  ['kkM11??', 5],
  ['kkMM1??', 5],
  ['kkMM1_?', 6],
  ['kMM1!!??', 6],
  ['kkM1!!?', 6],
  ['~MZ1_??', 5],
  ['~MZ11_?', 6],
  // Not digits, letters or listed symbols: they add length only.
  ['ÄÖÜßäöüéèêàâù', 5],
  ['ÄÖÜßäöüéèêàâùû', 6],
  ['🔑🔑🔑🔑🔑🔑🔑🔑🔑🔑🔑🔑🔑', 5],
  ['🔑🔑🔑🔑🔑🔑🔑🔑🔑🔑🔑🔑🔑🔑', 6],
  ['٣٤٥٦٧٨٩٣٤٥٦٧٨', 5],
  ['+=<>?/|[]{};:', 5],
  // Combining marks make no other password: an accented e is not a lower-case ASCII letter.
  ['e\u0301e\u0301MM11_', 5],
  ['e\u0301e\u0301eMM11', 5],
  ['e\u0301e\u0301eeMM11', 6],
];

describe('the score', () => {
  it('PW-06 is the sum of its parts', () =>
    eachRow(passwordScoreVectors, ([password, score]) => expect(passwordScore(password)).toBe(score)));
  it('PW-06 is the same in every Unicode form', () =>
    eachRow(passwordScoreVectors, ([password, score]) => {
      for (const form of ['NFC', 'NFD']) expect(passwordScore(password.normalize(form))).toBe(score);
    }));
});

describe('PW-12 an allowed password', () => {
  it('is possible', () =>
    eachRow(
      ['', ' spaces at both ends ', 'Zürich', 'e\u0301', '李小龍', '🔑🏳️\u200d🌈', '\u00a0', '\uffee', '\u{10fffd}'],
      (password) => expect(isPossiblePassword(password)).toBe(true),
    ));
  it('does not contain it', () =>
    eachRow(
      [
        ['NUL', '\0'],
        ['a tab', '\t'],
        ['a line break', '\n'],
        ['DEL', '\x7f'],
        ['the last C1 control', '\x9f'],
        ['a high surrogate alone', '\ud83d'],
        ['a low surrogate alone', '\udd11'],
        ['a pair in the wrong order', '\udd11\ud83d'],
        ['a noncharacter', '\uffff'],
        ['a noncharacter of the Arabic block', '\ufdd0'],
        ['a noncharacter of the last plane', '\u{10ffff}'],
        ['what stands for a broken character', '\ufffd'],
        ['a zero-width space', '\u200b'],
        ['a byte order mark', '\ufeff'],
      ],
      ([_, part]) => {
        for (const password of [part, `${part}aA1!bB2?`, `aA1!${part}bB2?`, `aA1!bB2?${part}`])
          expect(isPossiblePassword(password)).toBe(false);
      },
    ));
});

describe('broken rules', () => {
  const strong = 'aA1!bB2?xyz';
  it('none for a strong password entered twice', () => expect(brokenPasswordRules(strong, strong)).toEqual([]));
  it('match', () => expect(brokenPasswordRules(strong, '')).toEqual(['match']));
  it('PW-11 two Unicode forms of one text match', () => {
    const [composed, decomposed] = ['Zürich-Café-88', 'Zürich-Café-88'.normalize('NFD')];
    expect(brokenPasswordRules(composed, decomposed)).toEqual([]);
    expect(brokenPasswordRules(decomposed, composed)).toEqual([]);
  });
  it('breaks at its limits', () =>
    eachRow(
      [
        [6, ['short']],
        [7, []],
        [72, []],
        [73, ['long']],
      ],
      ([length, broken]) => {
        const password = 'aA1!bB2?'.repeat(10).slice(0, length);
        expect(brokenPasswordRules(password, password)).toEqual(broken);
      },
    ));
  it('a score of 5 is weak, 6 is not', () => {
    expect(brokenPasswordRules('lowercasexx', 'lowercasexx')).toEqual(['weak']);
    expect(brokenPasswordRules('lowercasexxx', 'lowercasexxx')).toEqual([]);
  });
  it('an operator may require more', () =>
    expect(brokenPasswordRules(strong, strong, { shortest: 15, longest: 72 })).toEqual(['short']));
  it('PW-04 a popular entry inside is found in any case, and named', () => {
    for (const entry of popularEntries) expect(entry).toContain(popularEntryIn(`x${entry.toUpperCase()}x`));
    expect([popularEntryIn('x123456789'), popularEntryIn('Passw0rdZZ99!!'), popularEntryIn('Harbour-7')]).toEqual([
      '123456789',
      'passw0rd',
      null,
    ]);
  });
  it('a long random password is never refused for a missing character class', () =>
    expect(brokenPasswordRules('kqzvhwxjfmrtbnypd', 'kqzvhwxjfmrtbnypd')).toEqual([]));
});
