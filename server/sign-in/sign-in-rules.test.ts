import { expect, it } from 'vitest';
import type { Asked } from '../people/sign-in-policy.ts';
import { type Situation, whatIsAsked } from './sign-in-rules.ts';

const nothing = {
  hasApp: false,
  isEmailConfirmed: false,
  hasEmailToProve: false,
  hasPasskeyForApp: false,
  maySetUp: true,
  rememberedBy: null,
  setsUpApp: false,
} satisfies Omit<Situation, 'customers'>;
const off = { twoFactor: 'off', rememberDevices: true } as const;
const email = { twoFactor: 'email', rememberDevices: true } as const;
const app = { twoFactor: 'app', rememberDevices: true } as const;
const confirmed = { isEmailConfirmed: true, hasEmailToProve: true };

it.each<[string, Partial<Situation>, Asked[]]>([
  ['a passkey stands for the app', { customers: [app], hasPasskeyForApp: true }, ['passkey']],
  [
    'the app that is there counts beside a passkey',
    { customers: [app], hasApp: true, hasPasskeyForApp: true },
    ['app'],
  ],
  ['a provider that may set up nothing', { customers: [app], ...confirmed, maySetUp: false }, ['app']],
  ['a browser remembered by a code', { customers: [email], rememberedBy: 'email' }, []],
  ['a browser remembered by the app', { customers: [email], rememberedBy: 'app' }, []],
  ['a browser remembered by the app, where it is asked', { customers: [app], hasApp: true, rememberedBy: 'app' }, []],
  [
    'a browser remembered by a code, where an app is asked',
    { customers: [app], hasApp: true, rememberedBy: 'email' },
    ['app'],
  ],
  [
    'a customer that forbids to remember',
    { customers: [{ ...email, rememberDevices: false }], rememberedBy: 'app' },
    ['email'],
  ],
  [
    'one that requires nothing forbids it',
    { customers: [email, { ...off, rememberDevices: false }], rememberedBy: 'email' },
    [],
  ],
  ['on the way to set up an app', { customers: [off], setsUpApp: true }, []],
  ['the same with a code to prove', { customers: [off], setsUpApp: true, ...confirmed }, ['email']],
  ['the same in a remembered browser', { customers: [email], setsUpApp: true, rememberedBy: 'email' }, ['email']],
])('%s', (_, situation, asked) => {
  expect(whatIsAsked({ ...nothing, customers: [], ...situation })).toEqual(asked);
});
