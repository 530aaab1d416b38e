import { describe, expect, it } from 'vitest';
import {
  brokenPasswordRules,
  containsPopularEntry,
  passwordLength,
  passwordScore,
  popularEntries,
} from './password-rules.ts';

describe('the score', () => {
  it.each([
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
    ['lowercasexx', 5],
    ['lowercasexxx', 6],
    ['~!@#$%^&*()_-', 7],
    ['""""""""', 0],
  ])('of %j is %i', (password, score) => expect(passwordScore(password)).toBe(score));
});

describe('the length', () => {
  it('counts code points after NFC', () => {
    expect(passwordLength('e\u0301')).toBe(1);
    expect(passwordLength('🔑🔑')).toBe(2);
  });
});

describe('broken rules', () => {
  const strong = 'aA1!bB2?xyz';
  it('none for a strong password, twice the same', () => expect(brokenPasswordRules(strong, strong)).toEqual([]));
  it('match', () => expect(brokenPasswordRules(strong, '')).toEqual(['match']));
  it.each([
    [6, ['short']],
    [7, []],
    [72, []],
    [73, ['long']],
  ])('%i characters break %j', (length, broken) => {
    const password = 'aA1!bB2?'.repeat(10).slice(0, length);
    expect(brokenPasswordRules(password, password)).toEqual(broken);
  });
  it('a score of 5 is weak, 6 is not', () => {
    expect(brokenPasswordRules('lowercasexx', 'lowercasexx')).toEqual(['weak']);
    expect(brokenPasswordRules('lowercasexxx', 'lowercasexxx')).toEqual([]);
  });
  it('all at once, in the order in which they are shown', () =>
    expect(brokenPasswordRules('123', 'x')).toEqual(['short', 'common', 'weak', 'match']));
  it('an operator may ask for more', () =>
    expect(brokenPasswordRules(strong, strong, { shortest: 15, longest: 72 })).toEqual(['short']));
  it.each(popularEntries)('%s inside is common, in any case', (entry) => {
    expect(containsPopularEntry(`x${entry.toUpperCase()}x`)).toBe(true);
  });
  it('a long random password is never refused for lack of a class', () =>
    expect(brokenPasswordRules('kqzvhwxjfmrtbnypd', 'kqzvhwxjfmrtbnypd')).toEqual([]));
});
