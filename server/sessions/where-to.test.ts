import { expect, it } from 'vitest';
import { limits } from '../limits.ts';
import { type AskedPage, type Standing, whereTo } from './destination.ts';

const half = (mustRegister: boolean, codeTries = 0): Standing => ({ kind: 'half', half: { mustRegister, codeTries } });
const asked: AskedPage[] = ['hub', 'login', 'twoFactor', 'twoFactorRegistration', 'forgotten', 'loginFail'];

it.each<[string, Standing, string]>([
  ['nobody', { kind: 'nobody' }, 'login · show · login · login · show · show'],
  ['a session over', { kind: 'ended' }, 'login · show · login signInExpired · login signInExpired · show · show'],
  ['a factor to register', half(true), 'secondFactor · show · secondFactor · show · show · show'],
  ['a code awaited', half(false), 'secondFactor · show · show · secondFactor · show · show'],
  [
    'all attempts used',
    half(false, limits.codeTries),
    'secondFactor · show · login tooManyCodes · login tooManyCodes · show · show',
  ],
  ['signed in', { kind: 'full' }, 'show · destination · destination · show · show · show'],
])('%s: where the pages lead, in this order: hub, login, second factor, registration, others', (_, standing, where) => {
  const led = asked.map((page) => Object.values(whereTo(standing, page)).join(' '));
  expect(led.join(' · ')).toBe(where);
});
