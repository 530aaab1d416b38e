import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readPath } from './hub-path.ts';

it.each([
  ...['/a/../b', '/a/%2e%2e/b', '/a/.%2E/b', '/a/..;/b', '/a/..%2Fb', '/a/%2e%2e%2fb', '/a/%252e%252e/b', '/a/..%5Cb'],
  ...['/a\\b', '/./a', '/a/%00', '/a/%0d%0a', '/a/..%20/b', '/a/%25%32%65%25%32%65/b', '/a/..%23', '/a/..%3Fx/b'],
  ...['/a/%c0%ae', '/a/%25c0%25ae', '/a/%E0%80%AF', '/a/%F0%80%80%AF', '/a/%EF%BC%8E%EF%BC%8E/b'],
  ...['/a/..%E9/%2e%2e', 'a', '', `/a/%${'25'.repeat(12)}41`],
])('GT-07 %s could lead elsewhere, or has no end', (sent) => {
  expect(readPath(sent)).toBeNull();
});

it.each([
  ['/App//%6Fne;x=1/t%2577o/three./M%C3%BC', '/app/one/two/three/mü', true],
  [`/a/${'%25'.repeat(3)}2e`, '/a/%%', true],
  ['/wiki/C%23', '/wiki/c', false],
  ['/wiki/F%23/Intro', '/wiki/f', false],
  ['/wiki/C%2523', '/wiki/c', false],
  ['/wiki/a%3Fb', '/wiki/a', false],
  ['/wiki/%EF%BC%83', '/wiki', false],
  ['/wiki/caf%E9', '/wiki/caf\ufffd', false],
  ['/wiki/caf%25E9', '/wiki/caf\ufffd', false],
  ['/wiki/%zz', '/wiki/%zz', false],
])('GT-07 %s is read as servers do that decode, merge slashes, and know parameters', (sent, path, isPlain) => {
  expect(readPath(sent)).toEqual({ path, isPlain });
});

it('GT-07 a path below another leads nowhere else, however often a hub decodes it', () => {
  const parts = '..|.|%2e|%2E%2e|%252e|/|%2f|%5c|\\|;|;x|a|%|%25| |%00|．|%3f|%23|?|#|%e9'.split('|');
  const tail = fc.array(fc.constantFrom(...parts), { maxLength: 8 }).map((some) => some.join(''));
  fc.assert(
    fc.property(tail, fc.nat(3), (text, times) => {
      const sent = `/open/${text}`;
      if (readPath(sent) === null) return;
      for (const path of [sent, sent.replace(/%(?:25)*(?:3f|23)/gi, '_')])
        expect(resolvedByHub(path, times), path).toMatch(/^\/open(?:\/|$)/);
    }),
    { numRuns: 3000 },
  );
});

/** The path that a lenient hub serves. */
function resolvedByHub(sent: string, times: number): string {
  let text = sent;
  for (let time = 0; time < times; time += 1) text = text.replace(/%([0-9a-f]{2})/gi, (_, hex) => unescape(`%${hex}`));
  const plain = text
    .normalize('NFKC')
    .replaceAll('\\', '/')
    .replace(/;[^/]*/g, '')
    .replace(/\/{2,}/g, '/');
  return new URL(`http://hub${plain}`).pathname;
}
