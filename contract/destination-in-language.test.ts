import { expect, it } from 'vitest';
import { eachRow } from '#test/support/runs-all.ts';
import { destinationInLanguage } from './destination-in-language.ts';

it('the default destination is in the language that was chosen, others are as they were', () =>
  eachRow(
    [
      ['/portal', 'pl', '/portal/?lang=pl'],
      ['/portal/', 'pl', '/portal/?lang=pl'],
      ['/portal/portal.html', 'pl', '/portal/?lang=pl'],
      ['/portal#/reports/7', 'pl', '/portal/?lang=pl#/reports/7'],
      ['/portal#/a#b', 'pl', '/portal/?lang=pl#/a#b'],
      ['/portal', undefined, '/portal'],
      ['/portal/portal.html?tab=2', 'pl', '/portal/portal.html?tab=2'],
      ['/portal/reports', 'pl', '/portal/reports'],
      ['/hub/app#/x', 'pl', '/hub/app#/x'],
      ['https://hub.example/', 'pl', 'https://hub.example/'],
    ],
    ([destination, language, expected]) => {
      expect(destinationInLanguage(destination, '/portal', language)).toBe(expected);
    },
  ));
