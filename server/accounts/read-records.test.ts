import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readCsv } from './read-records.ts';

it('loses no row beside a quote out of place or an empty row: each is read, or is among the refused once', () => {
  const cells = ['a', '"a"', ' "a"', '"a" ', '"a""b"', '""', 'a"b', '"a"b', '"a', 'a"', 'a,a', 'a\n,', 'a\n\n,,,\n,"'];
  const rows = fc.array(fc.constantFrom(...cells), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(rows, (names) => {
      const text = names.map((name, index) => `m${index}@acme.test,acme,${name}`).join('\n');
      const found = JSON.stringify([...readCsv(`email,customers,username\n${text}\n`).entries]);
      for (const index of names.keys()) expect(found.split(`m${index}@`), text).toHaveLength(2);
    }),
    { numRuns: 500 },
  );
});
