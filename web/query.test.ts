import { expect, it } from 'vitest';
import { withoutParameters, withParameter, withParametersOf } from './query.ts';

it.each([
  ['?3', ['lang'], '?3'],
  ['?3&lang=de', ['lang'], '?3'],
  ['?lang=de', ['lang'], ''],
  ['?a=1&lang=de&b=%zz', ['lang'], '?a=1&b=%zz'],
  ['', ['lang'], ''],
])('%j without %j is %j', (search, names, expected) => expect(withoutParameters(search, names)).toBe(expected));

it.each([
  ['?3', '?3&lang=de'],
  ['?lang=en&x=1', '?x=1&lang=de'],
  ['', '?lang=de'],
])('%j in German is %j', (search, expected) => expect(withParameter(search, 'lang', 'de')).toBe(expected));

it('takes over what is missing, as it was written', () =>
  expect(withParametersOf('?a=1', '?lang=d%65&a=2&x=3', ['a', 'lang'])).toBe('?a=1&lang=d%65'));
