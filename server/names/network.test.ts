import fc from 'fast-check';
import { expect, test } from 'vitest';
import { eachRow } from '#test/support/runs-all.ts';
import { readNetwork } from './network.ts';

test('a network has one way to be written (IP-07, IP-08)', () =>
  eachRow(
    [
      ['203.0.113.0/24', '203.0.113.0/24'],
      ['203.0.113.7', '203.0.113.7/32'],
      ['0.0.0.0/0', '0.0.0.0/0'],
      ['2001:DB8:0:0::/32', '2001:db8::/32'],
      ['2001:db8:a::/48', '2001:db8:a::/48'],
      ['::/0', '::/0'],
      ['2001:db8::1', '2001:db8::1/128'],
      ['::ffff:203.0.113.0/120', '203.0.113.0/24'],
      ['::ffff:cb00:7105', '203.0.113.5/32'],
    ],
    ([text, value]) => {
      expect(readNetwork(text)).toEqual({ kind: 'ok', value });
    },
  ));

test('host bits are refused with the network in the message', () =>
  eachRow(
    [
      ['203.0.113.5/24', 'write 203.0.113.0/24 for the network or 203.0.113.5 for the address'],
      ['2001:db8:a::1/48', 'write 2001:db8:a::/48'],
      ['10.255.255.255/9', 'write 10.128.0.0/9'],
      ['::ffff:203.0.113.5/120', 'write 203.0.113.0/24'],
      ['2001:db8:ffff::/33', 'write 2001:db8:8000::/33'],
    ],
    ([text, words]) => {
      const reading = readNetwork(text);
      expect(reading.kind === 'refused' && reading.problem).toContain(words);
    },
  ));

test('what no network is, is refused by name (IP-04)', () =>
  eachRow(
    [
      ...['', 'a', '203.0.113.0/33', '203.0.113.0/', '203.0.113.0/024', '203.0.113.0/24/8', '203.0.113/24'],
      ...['0x7f.0.0.0/8', '010.0.0.0/8', '203.0.113.0 /24', '2001:db8::/129', '::ffff:203.0.113.0/24', 'fe80::1%eth0'],
    ],
    (text) => {
      const reading = readNetwork(text);
      expect(reading.kind).toBe('refused');
      expect(reading.kind === 'refused' && reading.problem).toContain('network: ');
    },
  ));

test("the suggested network is accepted, and matches PostgreSQL's", () => {
  fc.assert(
    fc.property(fc.ipV6(), fc.integer({ min: 0, max: 128 }), (address, prefix) => {
      const reading = readNetwork(`${address}/${prefix}`);
      const suggested = reading.kind === 'ok' ? reading.value : /write (\S+)/.exec(reading.problem)?.[1];
      if (suggested) expect(readNetwork(suggested)).toEqual({ kind: 'ok', value: suggested });
    }),
  );
});
