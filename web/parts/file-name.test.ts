import { expect, it } from 'vitest';
import { fileName } from './file-name.ts';

it.each([
  ['Vestibule – Recovery codes.txt', 'Vestibule – Recovery codes.txt'],
  ['A/B: "C" – Codes.txt', 'A B C – Codes.txt'],
  ['../.hidden.txt', 'hidden.txt'],
  ['a\u0000\n\tb.txt', 'a b.txt'],
  [`${'x'.repeat(300)}.txt`, `${'x'.repeat(116)}.txt`],
])('%j is saved as %j', (text, name) => expect(fileName(text)).toBe(name));
