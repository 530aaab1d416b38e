import { expect, it } from 'vitest';
import { limits } from '../limits.ts';
import type { AccountOfSession, SessionOfAccount } from './may-change-factors.ts';
import { type MayChangeFactors, mayChangeFactors } from './may-change-factors.ts';

const now = new Date('2026-01-01T12:00:00Z');
const ago = (age: number) => new Date(now.getTime() - age);

const byPassword: SessionOfAccount = {
  stage: 'full',
  connectionId: null,
  proof: 'password',
  provenAt: ago(limits.freshSignIn),
  waitsFor: [],
  customerIds: ['acme'],
};
const byCode = { ...byPassword, proof: 'code' } as const;
const byPasskey = { ...byPassword, proof: 'passkey' } as const;
const byProvider = { ...byPassword, connectionId: 'idp', proof: 'provider' } as const;
const half = { ...byPassword, stage: 'half', provenAt: ago(limits.halfSession) } as const;

const plain: AccountOfSession = {
  hasPassword: true,
  hasPasskey: false,
  isEmailConfirmed: false,
  customers: [{ id: 'acme', twoFactor: 'off', passkeys: 'on' }],
  connectionCustomerId: null,
};
const asked = { ...plain, customers: [{ id: 'acme', twoFactor: 'email', passkeys: 'on' } as const] };
const askedElsewhere = {
  ...plain,
  customers: [...plain.customers, { id: 'other', twoFactor: 'app', passkeys: 'on' } as const],
};
const untaken = { ...plain, customers: [{ id: 'other', twoFactor: 'email', passkeys: 'off' } as const] };
const managed = { ...plain, hasPassword: false, connectionCustomerId: 'acme' };

it.each<[string, SessionOfAccount, AccountOfSession, MayChangeFactors]>([
  ['a password where nothing more is asked', byPassword, plain, 'may'],
  ['a password a moment too old', { ...byPassword, provenAt: ago(limits.freshSignIn + 1) }, plain, 'signInAgain'],
  [
    'a password from a clock far ahead',
    { ...byPassword, provenAt: ago(-limits.providerClock - 1) },
    plain,
    'signInAgain',
  ],
  ['MF-12 a password where a code is asked', byPassword, asked, 'signInAgain'],
  ['MF-12 a password that once had a code by email', byPassword, { ...plain, isEmailConfirmed: true }, 'signInAgain'],
  ['MF-12 a password where a customer asks that was not let in', byPassword, askedElsewhere, 'network'],
  ['MF-15 a remembered browser', { ...byPassword, proof: 'remembered' }, asked, 'signInAgain'],
  ['MF-15 a remembered browser where nothing is asked', { ...byPassword, proof: 'remembered' }, plain, 'signInAgain'],
  ['a code', byCode, asked, 'may'],
  ['a code where a customer asks that was not let in', byCode, askedElsewhere, 'may'],
  ['a code a moment too old', { ...byCode, provenAt: ago(limits.freshSignIn + 1) }, asked, 'signInAgain'],
  ['a passkey', byPasskey, { ...asked, hasPasskey: true }, 'may'],
  ['MF-12 a passkey where a customer that asks takes none', byPasskey, untaken, 'signInAgain'],
  ['a half session that waits for the app alone', { ...half, waitsFor: ['app'] }, asked, 'may'],
  ['MF-12 a half session whose user has a passkey', { ...half, waitsFor: ['passkey'] }, asked, 'byPasskey'],
  ['MF-15 a provider that is the whole account', byProvider, managed, 'may'],
  ['a provider that does not say when', { ...byProvider, provenAt: null }, managed, 'signInAgain'],
  ['MF-15 a provider beside a password', byProvider, { ...managed, hasPassword: true }, 'notFromProvider'],
  ['MF-15 a provider beside a passkey', byProvider, { ...managed, hasPasskey: true }, 'notFromProvider'],
  [
    'MF-15 a provider of one customer of two',
    byProvider,
    { ...managed, customers: [...managed.customers, { id: 'other', twoFactor: 'off', passkeys: 'on' }] },
    'notFromProvider',
  ],
  [
    'MF-15 a half session by a provider beside a password',
    { ...half, connectionId: 'idp', waitsFor: ['app'] },
    { ...managed, hasPassword: true },
    'notFromProvider',
  ],
])('%s', (_what, session, account, may) => {
  expect(mayChangeFactors(session, account, now)).toBe(may);
});
