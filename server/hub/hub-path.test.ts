import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readPath } from './hub-path.ts';

it.each([
  ...['/a/../b', '/a/%2e%2e/b', '/a/.%2E/b', '/a/..;/b', '/a/..%2Fb', '/a/%2e%2e%2fb', '/a/%252e%252e/b', '/a/..%5Cb'],
  ...['/a\\b', '/./a', '/a/%00', '/a/%0d%0a', '/a%23b', '/a/..%20/b', '/a/%25%32%65%25%32%65/b'],
  ...['/a/%ff', '/a/%', '/a/%zz', '/a/%25c0%25ae', '/a/%E0%80%AF', '/a/%EF%BC%8E%EF%BC%8E/b', 'a', ''],
  `/a/%${'25'.repeat(12)}41`,
])('GT-07 %s could lead elsewhere, or has no end', (sent) => {
  expect(readPath(sent)).toBeNull();
});

it('GT-07 is read as servers do that decode, merge slashes, and know parameters', () => {
  expect(readPath('/App//%6Fne;x=1/t%2577o/three./M%C3%BC')).toBe('/app/one/two/three/mü');
  expect(readPath(`/a/${'%25'.repeat(3)}2e`)).not.toBeNull();
});

it('GT-07 a path below another leads nowhere else, however often a hub decodes it', () => {
  const parts = '..|.|%2e|%2E%2e|%252e|/|%2f|%5c|\\|;|;x|a|%|%25| |%00|．'.split('|');
  const tail = fc.array(fc.constantFrom(...parts), { maxLength: 8 }).map((some) => some.join(''));
  fc.assert(
    fc.property(tail, fc.nat(3), (text, times) => {
      const sent = `/open/${text}`;
      if (readPath(sent) === null) return;
      expect(resolvedByHub(sent, times), sent).toMatch(/^\/open(?:\/|$)/);
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
  return new URL(`http://hub${plain.replace(/[?#]/g, encodeURIComponent)}`).pathname;
}
