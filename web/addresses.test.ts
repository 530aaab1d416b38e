import { expect, it } from 'vitest';
import { longestUsername } from '#contract/payloads.ts';
import { eachRow } from '#test/support/runs-all.ts';
import { addressInLanguage, loginOf, withMissingOf, withoutParameters, withParameter } from './addresses.ts';

it.each([
  [{ pathname: '/portal/login', search: '', hash: '' }, '/portal/login?lang=pl'],
  [{ pathname: '/portal/', search: '?a=1&lang=de', hash: '#/login' }, '/portal/?a=1&lang=pl#/login'],
  [{ pathname: '/portal/', search: '', hash: '#/login?lang=de&x=1' }, '/portal/?lang=pl#/login?x=1'],
])('%j', (address, expected) => expect(addressInLanguage(address, 'pl')).toBe(expected));

it('parameters are taken out', () =>
  eachRow(
    [
      ['?3', ['lang'], '?3'],
      ['?3&lang=de', ['lang'], '?3='],
      ['?lang=de', ['lang'], ''],
      ['?a=1&lang=de&b=%2F', ['lang'], '?a=1&b=%2F'],
      ['', ['lang'], ''],
    ],
    ([search, names, expected]) => expect(withoutParameters(search, names)).toBe(expected),
  ));

it('a parameter is put in', () =>
  eachRow(
    [
      ['?3', '?3=&lang=de'],
      ['?lang=en&x=1', '?lang=de&x=1'],
      ['', '?lang=de'],
    ],
    ([search, expected]) => expect(withParameter(search, 'lang', 'de')).toBe(expected),
  ));

it('what lacks is inherited', () =>
  eachRow(
    [
      ['?a=1', '?lang=d%65&a=2&x=3', '?a=1&lang=de&x=3'],
      ['?a=1', '?a=2', '?a=1'],
      ['', '?3', '?reason=3'],
      ['?lang=de', '?3', '?lang=de&reason=3'],
      ['?3', '?5', '?reason=3'],
      ['?3', '?reason=5', '?reason=3'],
      ['?reason=3', '?5', '?reason=3'],
    ],
    ([search, other, expected]) => expect(withMissingOf(search, other)).toBe(expected),
  ));

it('a name in the address is cut to what the form sends', () => {
  expect(loginOf(`?login=${'x'.repeat(6000)}`)).toBe('x'.repeat(longestUsername));
  expect([loginOf('?login=ada'), loginOf('')]).toEqual(['ada', '']);
});
