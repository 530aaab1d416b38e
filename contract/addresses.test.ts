import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { eachRow } from '#test/support/runs-all.ts';
import { canonicalIpAddress, isEmailAddress } from './addresses.ts';
import { acceptableDestination } from './destination.ts';

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

it("destinations and visitors' addresses are still read", () => {
  const rules = { origin: 'https://portal.example', basePath: '/portal', allowedOrigins: ['https://bi.example'] };
  expect(acceptableDestination('/portal/x', rules)).toBe('/portal/x');
  expect(acceptableDestination('https://bi.example/r', rules)).toBe('https://bi.example/r');
  expect(acceptableDestination('/portal/\ud800', rules)).toBeNull();
  expect(canonicalIpAddress('2001:DB8::7')).toBe('2001:db8::7');
});

describe('an email address', () => {
  it('is one @ with text on both sides, whatever stands around it', () =>
    eachRow(
      [
        ...['a@b', 'anna.keller@example.com', 'a+b@c.d', 'ä@ö.de', "o'neil@example.ie", 'a`|b@c', 'a..b@c'],
        ...[' a@b', 'a@b\u00a0', 'a\uff20b', '\u200e\u202aa@b\u202c', 'a@b\u200b'],
      ],
      (text) => expect(isEmailAddress(text)).toBe(true),
    ));
  it('is nothing else', () =>
    eachRow(
      [
        ...['', '@', 'a@', '@b', 'a', 'a@b@c', 'a b@c', 'a@b c', 'a@b\nc', 'a\u00a0@b', 'a@\u3000b'],
        ...['mailto:a@b', 'Ada <a@b>', 'a@b,', 'a@b;', "'a@b'"],
      ],
      (text) => expect(isEmailAddress(text)).toBe(false),
    ));
});

describe('addresses in canonical form', () => {
  it('has one way to be written', () =>
    eachRow(
      [
        ['203.0.113.5', '203.0.113.5'],
        ['::', '::'],
        ['2001:db8:a::1', '2001:db8:a::1'],
        ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
      ],
      ([text, expected]) => expect(canonicalIpAddress(text)).toBe(expected),
    ));

  it('IP-07 an IPv4-mapped address is that IPv4 address', () =>
    expect(canonicalIpAddress('::ffff:203.0.113.5')).toBe('203.0.113.5'));
  it('IP-08 also when written in hexadecimal', () =>
    expect(canonicalIpAddress('::ffff:cb00:7105')).toBe('203.0.113.5'));
  it('IP-09 other IPv6 forms that embed IPv4 stay IPv6', () =>
    eachRow(
      [
        ['64:ff9b::203.0.113.5', '64:ff9b::cb00:7105'],
        ['2002:cb00:7105::', '2002:cb00:7105::'],
        ['::203.0.113.5', '::cb00:7105'],
      ],
      ([text, expected]) => expect(canonicalIpAddress(text)).toBe(expected),
    ));
  it('IP-10 leading zeros and capitals in IPv6 do not matter', () =>
    expect(canonicalIpAddress('2001:DB8:000A::1')).toBe('2001:db8:a::1'));
});

describe('text that is not an address', () => {
  it('IP-04 is nothing that only looks like one', () =>
    eachRow(
      [
        '',
        ' ',
        ...'a 1.2.3.4:80 0x7f.1 010.1.1.1 [::1] 127.1 2130706433 1.2.3 1.2.3.4.5 256.1.1.1 1.2.3.4. １.2.3.4'.split(
          ' ',
        ),
      ],
      (text) => expect(canonicalIpAddress(text)).toBeNull(),
    ));
  it('IP-10 has no zone', () =>
    eachRow(['fe80::1%eth0', 'fe80::1%25eth0', '::1/64', '1.2.3.4/24', ':::', '1::2::3', '12345::', ':1'], (text) =>
      expect(canonicalIpAddress(text)).toBeNull(),
    ));
  it('IP-16 is no text that a page could show', () =>
    eachRow(
      ['<script>', `::${'1'.repeat(500)}`, '1.2.3.4\u202e', '\u202e1.2.3.4', '1.2.3.4\n', ' 1.2.3.4', '::1]/@evil:['],
      (text) => expect(canonicalIpAddress(text)).toBeNull(),
    ));
});
