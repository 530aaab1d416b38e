import { describe, expect, it } from 'vitest';
import { eachRow } from '#test/support/runs-all.ts';
import { bestLanguage, languageOfTag, tagsOfAcceptLanguage } from './languages.ts';

describe('the language of a tag', () => {
  it('is that of its first part, or none', () =>
    eachRow(
      [
        ['de', 'de'],
        ['de-AT', 'de'],
        ['DE_ch', 'de'],
        [' pl ', 'pl'],
        ['nl-Latn-BE-x-y', 'nl'],
        ['deu', null],
        ['fr', null],
        ['*', null],
        ['', null],
        ['../../etc', null],
        ['__proto__', null],
        ['constructor', null],
      ],
      ([tag, expected]) => expect(languageOfTag(tag)).toBe(expected),
    ));
});

describe('the tags of an Accept-Language header', () => {
  it('are in order of preference', () =>
    eachRow(
      [
        ['de', ['de']],
        ['fr;q=0.9, es;q=0.95, *;q=0.1', ['es', 'fr', '*']],
        ['en;q=0, de;q=0.5', ['de']],
        ['de-DE,de;q=0.9,en-US;q=0.8', ['de-DE', 'de', 'en-US']],
        ['', []],
        [',,;;q=1,', []],
        ['it;q=x', []],
        ['it; q=0.3 , nl', ['nl', 'it']],
      ],
      ([header, expected]) => expect(tagsOfAcceptLanguage(header)).toEqual(expected),
    ));
});

describe('the best language', () => {
  it('is the first one that there is', () =>
    eachRow(
      [
        [['fr', 'pl-PL', 'de'], 'pl'],
        [['fr', '*'], 'en'],
        [[], 'en'],
      ],
      ([tags, expected]) => expect(bestLanguage(tags)).toBe(expected),
    ));
});
