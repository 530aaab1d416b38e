import { expect, it } from 'vitest';
import { eachRow } from '#test/support/runs-all.ts';
import { fileName } from './copy-button.tsx';

it('a file has a name that every system takes', () =>
  eachRow(
    [
      ['Vestibule – Recovery codes.txt', 'Vestibule – Recovery codes.txt'],
      ['A/B: "C" – Codes.txt', 'A B C – Codes.txt'],
      ['../.hidden.txt', 'hidden.txt'],
      ['a\u0000\n\tb.txt', 'a b.txt'],
      [`${'x'.repeat(300)}.txt`, `${'x'.repeat(116)}.txt`],
    ],
    ([text, name]) => expect(fileName(text)).toBe(name),
  ));
