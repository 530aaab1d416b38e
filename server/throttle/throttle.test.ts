import { expect, it } from 'vitest';
import { canonicalIpAddress } from '#contract/addresses.ts';
import { limits } from '../limits.ts';
import { addressKeys, addressLimits, unknownNameKey } from './throttle-keys.ts';

const keysOf = (text: string) => addressKeys(canonicalIpAddress(text) ?? '').map(({ key }) => key);

it('BF-06 the addresses of one /64 share one row, those of one /56 and one /48 wider ones', () => {
  const last = (n: number) => `2001:db8:a:b:${n.toString(16)}:0:${(n * 7).toString(16)}:1`;
  const keys = new Set(Array.from({ length: 1000 }, (_, n) => keysOf(last(n + 1)).join(' ')));
  expect([...keys]).toEqual(['address:2001:db8:a:b::/64 network:2001:db8:a:0::/56 site:2001:db8:a::/48 total']);
  const { address, network, site, total } = addressLimits;
  for (const [narrow, wide] of [
    [address, network],
    [network, site],
    [site, total],
  ] as const) {
    expect(wide.freeFailures).toBeGreaterThan(narrow.freeFailures);
    expect(wide.leakEvery).toBeLessThan(narrow.leakEvery);
  }
});

it('BF-06 the boundaries are exactly at /64, /56 and /48', () => {
  const [inside, alsoInside, nextNetwork] = ['2001:db8:a:1b00::1', '2001:db8:a:1bff::1', '2001:db8:a:1c00::1'].map(
    keysOf,
  );
  expect(inside?.[0]).not.toBe(alsoInside?.[0]);
  expect(inside?.[1]).toBe(alsoInside?.[1]);
  expect(inside?.[1]).not.toBe(nextNetwork?.[1]);
  expect(inside?.[2]).toBe(nextNetwork?.[2]);
  expect(keysOf('2001:db8:a:ffff::1')[2]).toBe(inside?.[2]);
  expect(keysOf('2001:db8:b::1')[2]).not.toBe(inside?.[2]);
});

it.each([
  ['::1', 'address:0:0:0:0::/64'],
  ['1::', 'address:1:0:0:0::/64'],
  ['::', 'address:0:0:0:0::/64'],
  ['2001:db8::5:6', 'address:2001:db8:0:0::/64'],
  ['2001:0DB8:0:0:1:0:0:1', 'address:2001:db8:0:0::/64'],
  ['1:2:3:4:5:6:7:8', 'address:1:2:3:4::/64'],
  ['64:ff9b::203.0.113.5', 'address:64:ff9b:0:0::/64'],
])('BF-06 %s counts under %s, however it is abbreviated', (text, key) => {
  expect(keysOf(text)[0]).toBe(key);
});

it('BF-07 an IPv4-mapped address counts as its IPv4 address, and two of them as two', () => {
  expect(keysOf('::ffff:203.0.113.5')).toEqual(['address:203.0.113.5', 'total']);
  expect(keysOf('::ffff:cb00:7105')).toEqual(keysOf('203.0.113.5'));
  expect(keysOf('::ffff:203.0.113.6')).not.toEqual(keysOf('::ffff:203.0.113.5'));
});

it('LK-04 any number of unknown names shares a bounded number of rows', () => {
  const keys = new Set<string>();
  for (let n = 0; n < 2 * limits.unknownNameBuckets; n += 1) keys.add(unknownNameKey(`name ${n}`));
  expect(keys.size).toBeLessThanOrEqual(limits.unknownNameBuckets);
  expect(keys.size).toBeGreaterThan(limits.unknownNameBuckets / 2);
});
