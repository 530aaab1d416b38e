import { createHash } from 'node:crypto';
import { brotliCompressSync } from 'node:zlib';
import { afterEach, expect, it, vi } from 'vitest';
import { svgForTest } from '#testing/logo-for-test.ts';
import { limits } from '../limits.ts';
import { logoOnPages } from './logo-on-pages.ts';
import type { Logo } from './read-logo.ts';

vi.mock(import('node:zlib'), async (original) => {
  const actual = await original();
  return { ...actual, brotliCompressSync: vi.fn(actual.brotliCompressSync) };
});
afterEach(() => vi.mocked(brotliCompressSync).mockClear());

const noise = (length: number) =>
  Buffer.concat(
    Array.from({ length: Math.ceil(length / 64) }, (_, at) => createHash('sha512').update(`${at}`).digest()),
  );
const png = (length: number): Logo => ({
  type: 'png',
  bytes: noise(length).subarray(0, length),
  width: 90,
  height: 30,
});
const svg = (bytes: Buffer): Logo => ({ type: 'svg', bytes, width: 90, height: 30 });
const small = svg(Buffer.from(svgForTest));

it.each([
  ['a small SVG', small, null, 'inline', true],
  ['a small picture', png(250), null, 'inline', true],
  ['two pictures that are small one by one', png(250), png(250), 'file', false],
  ['a large picture', png(64_000), null, 'file', false],
  ['a large picture for dark screens', small, png(64_000), 'file', false],
  ['a large SVG, even if it repeats itself', svg(Buffer.alloc(64_000, ' ')), null, 'file', false],
  ['an SVG that does not compress', svg(Buffer.from(noise(3000).toString('base64'))), null, 'file', true],
] as const)(
  '%s is on the page as it should be, compressed only if that may help',
  (_name, logo, logoDark, as, isTried) => {
    const { files, logo: shown } = logoOnPages({ logo, logoDark }, '/f');
    expect(shown?.img.src).toMatch(as === 'inline' ? /^data:/ : /^\/f\//);
    expect(files.size > 0).toBe(as === 'file');
    expect(vi.mocked(brotliCompressSync).mock.calls.length > 0).toBe(isTried);
    expect(limits.logoInlineText).toBeLessThan(limits.logoBytes);
  },
);
