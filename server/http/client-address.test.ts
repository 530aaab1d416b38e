import { expect, it } from 'vitest';
import { eachRow } from '#test/support/runs-all.ts';
import { parseNetworkList } from '../names/network.ts';
import { clientAddress } from './client-address.ts';

const { networks: proxies } = parseNetworkList(['10.0.0.0/8', '2001:db8:ff::/48']);
const { networks: nobody } = parseNetworkList([]);

it('IP-01 without a trusted proxy the header is ignored', () => {
  expect(clientAddress('198.51.100.7', '203.0.113.5', nobody)).toBe('198.51.100.7');
  expect(clientAddress('198.51.100.7', '203.0.113.5', proxies)).toBe('198.51.100.7');
  expect(clientAddress('127.0.0.1', '203.0.113.5', nobody)).toBe('127.0.0.1');
  expect(clientAddress(undefined, '203.0.113.5', proxies)).toBeNull();
  expect(clientAddress('fe80::1%eth0', '203.0.113.5', proxies)).toBe('fe80::1');
});

it('a header counts through a trusted proxy alone', () =>
  eachRow<[string, string | string[] | undefined, string | null]>(
    [
      ['one entry', '203.0.113.5', '203.0.113.5'],
      ['IP-02 one that the client wrote, and the real one', '203.0.113.5, 198.51.100.7', '198.51.100.7'],
      ['IP-03 the same in two lines', ['203.0.113.5', '198.51.100.7'], '198.51.100.7'],
      ['a chain of trusted proxies', '203.0.113.5, 198.51.100.7, 10.1.1.1, 2001:db8:ff::1', '198.51.100.7'],
      ['a client that is a trusted proxy itself', '10.2.2.2, 10.1.1.1', '10.2.2.2'],
      ['IPv6, not in its shortest form', '2001:DB8:000A::1', '2001:db8:a::1'],
      ['IP-07 an IPv4-mapped address', '::ffff:203.0.113.5', '203.0.113.5'],
      ['IP-08 one in hexadecimal', '::ffff:cb00:7105', '203.0.113.5'],
      ['a mapped address of a proxy', '198.51.100.7, ::ffff:10.1.1.1', '198.51.100.7'],
      ['IP-04 a word', 'a', null],
      ['IP-04 nothing', '', null],
      ['an empty last entry', '203.0.113.5,', '203.0.113.5'],
      ['a port', '203.0.113.9:51234', '203.0.113.9'],
      ['a port, before a proxy', '203.0.113.9:51234, 10.0.0.2:443', '203.0.113.9'],
      ['IPv6 with a port', '[2001:db8::9]:443', '2001:db8::9'],
      ['IPv6 that ends like a port', '2001:db8::9:443', '2001:db8::9:443'],
      ['brackets', '[::1]', '::1'],
      ['IP-10 a zone', 'fe80::1%eth0', 'fe80::1'],
      ['IP-04 a name with a port', 'client:80', null],
      ['IP-04 a port alone', ':80', null],
      ['IP-04 IPv4 with a zone', '203.0.113.5%eth0', null],
      ['IP-04 brackets left open', '[::1', null],
      ['IP-04 hexadecimal', '0x7f.1', null],
      ['IP-04 unknown', 'unknown', null],
      ['IP-04 RFC 7239', 'for=203.0.113.5', null],
      ['IP-04 a bad entry before trusted ones', '203.0.113.5, unknown, 10.1.1.1', null],
      ['IP-04 an Arabic digit', '203.0.113.٥', null],
      ['a bad entry left of the one that counts', '<script>, 198.51.100.7', '198.51.100.7'],
      ['IP-06 no header', undefined, null],
    ],
    ([_what, header, address]) => {
      expect(clientAddress('10.0.0.1', header, proxies)).toBe(address);
      expect(clientAddress('::ffff:10.0.0.1', header, proxies)).toBe(address);
    },
  ));

it('IP-09 addresses that only embed an IPv4 address are not that address', () => {
  for (const text of ['64:ff9b::203.0.113.5', '2002:cb00:7105::', '::203.0.113.5', '::ffff:0:203.0.113.5'])
    expect(clientAddress(text, undefined, nobody)).toContain(':');
});
