import { expect, it } from 'vitest';
import { checkLine } from './doctor-checks.ts';

it.each([
  ['postgres://db.example/x', 'others on the network may read and change what is sent'],
  ['postgres://db.example/x?sslmode=disable', 'others on the network may read and change what is sent'],
  ['postgres://db.example/x?sslmode=require', 'encrypted, but the certificate is not checked'],
  ['postgres://db.example/x?sslmode=verify-full', 'encrypted, and the certificate is checked'],
  ['postgres://localhost/x', 'on this machine'],
])('the line of %s: %s', (url, words) => {
  expect(checkLine(url).words).toContain(words);
});
