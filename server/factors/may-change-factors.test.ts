import { describe, expect, it } from 'vitest';
import { addCustomer, signedInAs } from '#test/support/accounts-for-test.ts';
import { givePasskey, signInWithPasskey } from '#test/support/passkey-sign-in-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { browserForTest, sessionByConnection } from '#test/support/sso-for-test.ts';
import {
  askForKey,
  type Browser,
  codeByMail,
  codeNow,
  halfSession,
  pageOf,
  startTwoFactorAfresh,
  verify,
  verifyByForm,
} from '#test/support/two-factor-for-test.ts';
import { resetTwoFactor } from '../accounts/act-on-user.ts';
import { limits } from '../limits.ts';
import {
  type AccountOfSession,
  type MayChangeFactors,
  mayChangeFactors,
  type SessionOfAccount,
} from './may-change-factors.ts';

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

const portal = portalOfFile({ each: startTwoFactorAfresh });
const screen = '/portal/twoFactorRegistration';
const mayAsk = async (cookies: Browser) => (await askForKey(portal, cookies)).statusCode === 200;
const signIn = async (username: string, cookies: Browser = {}) =>
  cookiesOf(await portal.signIn(username, testPassword, { cookies }));
const pageFor = async (cookies: Browser) => (await pageOf(portal, { url: screen, cookies })).screen;
const withCode = async (username: string, half: Browser, query = '') =>
  cookiesOf(await verify(portal, await codeByMail(portal, username), half, { query }));
const join = (username: string, key: string) => portal.sql`
  insert into membership select u.id, c.id from portal_user u, customer c where u.username = ${username} and c.key = ${key}`;
const elsewhere = (why: string, comesBackTo: string | null, goesOnTo: string | null) => ({
  ...{ name: 'registerElsewhere', why },
  ...{ comesBackTo, goesOnTo },
});

describe('MF-12 a session of the password alone', () => {
  it('MF-12 nor confirms one if the user has joined such a customer since, and tells that from a wrong code', async () => {
    await addCustomer(portal, 'strict', { twoFactor: 'email', networks: ['203.0.113.0/24'] });
    const cookies = await signIn('pat');
    const { totpSecret } = (await askForKey(portal, cookies)).json<{ totpSecret: string }>();
    await join('pat', 'strict');
    const answer = await verify(portal, codeNow(portal, totpSecret), cookies);
    expect([answer.statusCode, answer.headers['vestibule-notice']]).toEqual([409, undefined]);
    const form = await verifyByForm(portal, { code: codeNow(portal, totpSecret) }, cookies);
    expect(form.headers.location).toBe(screen);
    expect(await pageFor(cookies)).toMatchObject({ why: 'network' });
    expect(await portal.sql`select from totp`).toEqual([]);
    expect(await signedInAs(portal, cookies)).toBe('pat');
  });

  it('MF-12 sets up no app for who has confirmed codes by email, until the sign-in that leads there asks for one', async () => {
    await withCode('bob', await halfSession(portal, 'bob'));
    await portal.sql`update customer set two_factor = 'off' where key = 'mail'`;
    const cookies = await signIn('bob');
    expect([await mayAsk(cookies), (await pageFor(cookies))?.name]).toEqual([false, 'signInOnceMore']);
    portal.wait(60_000);
    const form = { username: 'bob', password: testPassword, redirectURL: screen };
    const half = await portal.signIn('bob', testPassword, { form });
    expect(half.headers.location).toContain('codeSentViaEmail');
    expect(await mayAsk(await withCode('bob', cookiesOf(half)))).toBe(true);
    await resetTwoFactor(portal.sql, 'bob', portal.deps.now());
    expect(await mayAsk(await signIn('bob'))).toBe(true);
  });
});

describe('MF-12 somebody with a passkey', () => {
  it('MF-12 sets up no app by password, nor with a code by email: the page asks for the passkey', async () => {
    await join('alice', 'mail');
    const passkey = await givePasskey(portal, 'alice');
    const browser = browserForTest(portal);
    const half = await halfSession(portal, 'alice');
    Object.assign(browser.cookies, half, await withCode('alice', half));
    expect(await mayAsk(browser.cookies)).toBe(false);
    const shown = await pageOf(portal, { url: screen, cookies: browser.cookies });
    expect(shown.screen).toEqual({ ...elsewhere('passkey', null, null), hasPasskey: true });
    await signInWithPasskey(browser, passkey, {}, {}, { kind: 'second-factor' });
    expect(await signedInAs(portal, browser.cookies)).toBe('alice');
  });

  it.each([
    ['is sent to sign in by it', 'select', screen],
    ['is sent to the administrator if it is for another domain', "update passkey set rp_id = 'x.example'", null],
    ['is sent to the administrator if no customer takes it', "update customer set passkeys = 'off'", null],
  ])('MF-15 by a provider sets up no app, and %s', async (_what, change, comesBackTo) => {
    const cookies = await halfSession(portal, 'alice');
    await sessionByConnection(portal, 'alice', 'app');
    await portal.sql`update session set waits_for = '{app}'`;
    await portal.sql`update portal_user set password_hash = null where username = 'alice'`;
    expect(await mayAsk(cookies)).toBe(true);
    await givePasskey(portal, 'alice');
    expect(await mayAsk(cookies)).toBe(false);
    await portal.sql.unsafe(change);
    expect(await pageFor(cookies)).toEqual(elsewhere('provider', comesBackTo, null));
  });
});
