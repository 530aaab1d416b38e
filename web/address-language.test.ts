import { expect, it } from 'vitest';
import { addressInLanguage } from './addresses.ts';

it.each([
  [{ pathname: '/portal/login', search: '', hash: '' }, '/portal/login?lang=pl'],
  [{ pathname: '/portal/', search: '?a=1&lang=de', hash: '#/login' }, '/portal/?a=1&lang=pl#/login'],
  [{ pathname: '/portal/', search: '', hash: '#/login?lang=de&x=1' }, '/portal/?lang=pl#/login?x=1'],
])('%j', (address, expected) => expect(addressInLanguage(address, 'pl')).toBe(expected));
