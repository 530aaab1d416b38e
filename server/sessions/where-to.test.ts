import { expect, it } from 'vitest';
import { type AskedPage, type Standing, whereTo } from './where-to.ts';

const half = { kind: 'half', isUsedUp: false } as const;
const app = { ...half, factor: 'app' } as const;
const email = { ...half, factor: 'email' } as const;
const asked: AskedPage[] = ['hub', 'login', 'twoFactor', 'twoFactorRegistration', 'forgotten', 'loginFail'];

it.each<[string, Standing, string]>([
  ['nobody', { kind: 'nobody' }, 'login · show · login · login · show · show'],
  ['a session over', { kind: 'ended' }, 'login · show · login signInExpired · login signInExpired · show · show'],
  ['an app to register', { ...app, mustRegister: true }, 'secondFactor · show · secondFactor · show · show · show'],
  ['a code awaited', { ...app, mustRegister: false }, 'secondFactor · show · show · secondFactor · show · show'],
  ['an email to confirm', { ...email, mustRegister: true }, 'secondFactor · show · secondFactor · show · show · show'],
  ['a code by email', { ...email, mustRegister: false }, 'secondFactor · show · show · secondFactor · show · show'],
  [
    'all attempts used',
    { ...app, mustRegister: false, isUsedUp: true },
    'secondFactor · show · login tooManyCodes · login tooManyCodes · show · show',
  ],
  ['signed in', { kind: 'full' }, 'show · destination · destination · show · show · show'],
])('%s: where the pages lead, in this order: hub, login, second factor, registration, others', (_, standing, where) => {
  const led = asked.map((page) => Object.values(whereTo(standing, page)).join(' '));
  expect(led.join(' · ')).toBe(where);
});
