import { expect, it } from 'vitest';
import { bestLanguage, languages, tagsOfAcceptLanguage } from '#contract/languages.ts';
import { firstLanguagePattern } from './first-language-pattern.ts';

const patterns = languages.map((language) => ({ language, pattern: new RegExp(firstLanguagePattern(language), 'i') }));

const found = (header: string) => {
  const matching = patterns.filter(({ pattern }) => pattern.test(header)).map(({ language }) => language);
  expect(matching.length, header).toBeLessThanOrEqual(1);
  return matching[0] ?? 'en';
};

it.each([
  '',
  '*',
  'de',
  'DE-at',
  'de-AT,de;q=0.9,en;q=0.8',
  'fr-CH, fr;q=0.9, en;q=0.8, de;q=0.7, *;q=0.5',
  'es_MX,es;q=0.9',
  'den,pl;q=0.3',
  'dsb-DE,hsb;q=0.9,it;q=0.5',
  'e,d,p,nl',
  'eng,deu,nl-BE;q=0.1',
  'de;q=0,en-GB;q=0.4',
  'de;q=0.000',
  'pt-BR,pt;q=0.9,es;q=0.8',
  ',,it',
  'nn,nb;q=0.9,no;q=0.8,en-US;q=0.6',
  'zh-Hans-CN,zh',
])('the first language of "%s" is the one that our server answers in', (header) => {
  expect(found(header)).toBe(bestLanguage(tagsOfAcceptLanguage(header)));
});

it('agrees with the server on every header that lists the best first', () => {
  const tags = ['en', 'de-DE', 'es-419', 'pl', 'nl-BE', 'it', 'fr', 'pt-BR', 'e', 'den', 'eo', 'is', '*', 'x-pig'];
  let seed = 14;
  const next = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  for (let round = 0; round < 2000; round++) {
    const count = 1 + next(6);
    const entries = Array.from({ length: count }, (_, at) => {
      const weight = (count - at) / count;
      const refused = next(8) === 0;
      return `${tags[next(tags.length)]}${refused ? ';q=0' : at === 0 ? '' : `;q=${weight.toFixed(2)}`}`;
    });
    const header = entries.join(next(2) ? ',' : ', ');
    expect(found(header), header).toBe(bestLanguage(tagsOfAcceptLanguage(header)));
  }
});
