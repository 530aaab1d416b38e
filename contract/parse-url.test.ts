import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { acceptableDestination } from './destination.ts';
import { canonicalIpAddress } from './ip-address.ts';
import { parseUrl } from './parse-url.ts';

/** Chromium before 126 and Firefox 115. */
beforeEach(() => {
  vi.stubGlobal('URL', class extends URL {});
  Object.assign(globalThis.URL, { parse: undefined });
  for (const name of ['isWellFormed', 'toWellFormed'] as const)
    vi.spyOn(String.prototype, name).mockImplementation(() => {
      throw new TypeError(`${name} is not a function`);
    });
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

it('parses an address where URL.parse is missing', () => {
  expect(parseUrl('/a?b', 'https://portal.example')?.href).toBe('https://portal.example/a?b');
  expect(parseUrl('https://')).toBeNull();
});

it("destinations and visitors' addresses are still read", () => {
  const rules = { origin: 'https://portal.example', basePath: '/portal', allowedOrigins: ['https://bi.example'] };
  expect(acceptableDestination('/portal/x', rules)).toBe('/portal/x');
  expect(acceptableDestination('https://bi.example/r', rules)).toBe('https://bi.example/r');
  expect(acceptableDestination('/portal/\ud800', rules)).toBeNull();
  expect(canonicalIpAddress('2001:DB8::7')).toBe('2001:db8::7');
});
