import { expect, it } from 'vitest';
import { longestUsername } from '#contract/payloads.ts';
import { addressInLanguage, loginOf } from './addresses.ts';

it.each([
  [{ pathname: '/portal/login', search: '', hash: '' }, '/portal/login?lang=pl'],
  [{ pathname: '/portal/', search: '?a=1&lang=de', hash: '#/login' }, '/portal/?a=1&lang=pl#/login'],
  [{ pathname: '/portal/', search: '', hash: '#/login?lang=de&x=1' }, '/portal/?lang=pl#/login?x=1'],
])('%j', (address, expected) => expect(addressInLanguage(address, 'pl')).toBe(expected));

it('a name in the address is cut to what the form sends', () => {
  expect(loginOf(`?login=${'x'.repeat(6000)}`)).toBe('x'.repeat(longestUsername));
  expect([loginOf('?login=ada'), loginOf('')]).toEqual(['ada', '']);
});
