import { describe, expect, it } from 'vitest';
import { eachRow } from '#test/support/runs-all.ts';
import { canonicalIpAddress } from './ip-address.ts';

describe('addresses in canonical form', () => {
  it('has one way to be written', () =>
    eachRow(
      [
        ['203.0.113.5', '203.0.113.5'],
        ['0.0.0.0', '0.0.0.0'],
        ['255.255.255.255', '255.255.255.255'],
        ['::1', '::1'],
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
        'a',
        '',
        ' ',
        '1.2.3.4:80',
        '0x7f.1',
        '010.1.1.1',
        '[::1]',
        'unknown',
        '127.1',
        '2130706433',
        '1.2.3',
        '1.2.3.4.5',
        '256.1.1.1',
        '1.2.3.4.',
        '.1.2.3.4',
        '1..2.3',
        '１.2.3.4',
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
