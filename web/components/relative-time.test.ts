import { expect, it } from 'vitest';
import { eachRow } from '#test/support/runs-all.ts';
import { relativeTime } from '../messages.ts';

it('a time is told as people say it', () =>
  eachRow(
    [
      ['en', 0, 'in 1 second'],
      ['en', 90, 'in 90 seconds'],
      ['en', 121, 'in 3 minutes'],
      ['de', 300, 'in 5 Minuten'],
      ['es', 300, 'dentro de 5 minutos'],
      ['pl', 1, 'za 1 sekundę'],
      ['pl', 180, 'za 3 minuty'],
      ['pl', 300, 'za 5 minut'],
      ['nl', 300, 'over 5 minuten'],
      ['it', 300, 'tra 5 minuti'],
    ] as const,
    ([language, seconds, text]) => expect(relativeTime(language, seconds)).toBe(text.replace(/(\d) /, '$1\u00a0')),
  ));
