import { beforeEach, describe, expect, it } from 'vitest';
import { codeAnswerHeaders } from '#contract/payloads.ts';
import { addCustomer, addUser, signedInAs } from '#test/support/accounts-for-test.ts';
import { givePasskey, signInWithPasskey } from '#test/support/passkey-sign-in-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { userId } from '#test/support/reset-for-test.ts';
import { browserForTest, sessionByConnection } from '#test/support/sso-for-test.ts';
import {
  askForKey,
  type Browser,
  codeByMail,
  codeNow,
  giveApp,
  halfSession,
  pageOf,
  registerApp,
  registrationUrl,
  sendUrl,
  startTwoFactorAfresh,
  verdict,
  verify,
  verifyByForm,
} from '#test/support/two-factor-for-test.ts';
import { limits } from '../limits.ts';
import {
  type AccountOfSession,
  type MayChangeFactors,
  mayChangeFactors,
  type SessionOfAccount,
} from './may-change-factors.ts';

const portal = portalOfFile();
beforeEach(async () => {
  await startTwoFactorAfresh(portal);
  const networks = ['203.0.113.0/24'];
  await addCustomer(portal, 'app-in', { twoFactor: 'app', networks });
  await addCustomer(portal, 'mail-in', { twoFactor: 'email', networks });
  await addCustomer(portal, 'plain-in', { networks });
  await addCustomer(portal, 'app-closed', { twoFactor: 'app' });
  await portal.sql`update customer set active = false where key = 'app-closed'`;
});

const inside = '203.0.113.5';
const outside = '198.51.100.7';
const ways = {
  in: '/portal/x',
  'the app': '/portal/twoFactor?redirectURL=%2Fportal%2Fx',
  'the mail': '/portal/twoFactor?redirectURL=%2Fportal%2Fx&codeSentViaEmail=true',
  'register the app': '/portal/twoFactorRegistration?redirectURL=%2Fportal%2Fx',
  'register the mail': '/portal/twoFactorRegistration?redirectURL=%2Fportal%2Fx&codeSentViaEmail=true',
  out: '/portal/loginfail/ip?ipaddress=198.51.100.7&destination=%2Fportal%2Fx',
};
type Registered = 'nothing' | 'app' | 'mail' | 'both';

async function addUserWith(customers: string[], registered: Registered): Promise<string> {
  const username = `user-${Math.random()}`;
  await addUser(portal, { username, customers });
  if (registered === 'app' || registered === 'both') await giveApp(portal, username);
  if (registered === 'mail' || registered === 'both')
    await portal.sql`insert into email_factor values (${await userId(portal, username)}, now())`;
  return username;
}

it.each<[string, Registered, string, keyof typeof ways]>([
  ['plain', 'mail', outside, 'in'],
  ['plain', 'app', outside, 'the app'],
  ['app', 'nothing', outside, 'register the app'],
  ['app', 'mail', outside, 'the mail'],
  ['mail', 'nothing', outside, 'register the mail'],
  ['mail', 'mail', outside, 'the mail'],
  ['mail', 'both', outside, 'the app'],
  ['app mail', 'nothing', outside, 'register the mail'],
  ['plain app-in', 'nothing', outside, 'in'],
  ['plain app-in', 'nothing', inside, 'register the app'],
  ['app mail-in', 'nothing', outside, 'register the mail'],
  ['app-in', 'nothing', outside, 'out'],
  ['plain app-closed', 'nothing', outside, 'in'],
])('customers %s, registered %s, from %s: a right password leads to %s', async (customers, registered, from, way) => {
  const username = await addUserWith(customers.split(' '), registered);
  const form = { username, password: testPassword, redirectURL: '/portal/x' };
  expect((await portal.signIn(username, testPassword, { form, from })).headers.location).toBe(ways[way]);
  expect(await portal.sql`select from job`).toHaveLength(way.endsWith('the mail') ? 1 : 0);
});

it.each(['app', 'mail'] as const)(
  'MF-14 the server alone decides, whatever the form, the address or a cookie of a user of customer %s says',
  async (key) => {
    const username = await addUserWith([key], key);
    const claims = { codeSentViaEmail: 'true', factor: 'email', twoFactor: 'off', stage: 'full', mustRegister: 'x' };
    const form = { username, password: testPassword, redirectURL: '/portal/x', ...claims };
    const url = `/portal/performlogin?${new URLSearchParams(claims)}`;
    const answer = await portal.signIn(username, testPassword, { form, url, cookies: claims });
    expect(answer.headers.location).toBe(ways[`the ${key}`]);
  },
);

it('MF-14 a code by email is neither made nor accepted where an app is required', async () => {
  const username = await addUserWith(['app', 'mail'], 'both');
  const cookies = await halfSession(portal, username);
  await portal.send({ url: '/portal/twoFactor?codeSentViaEmail=true', cookies });
  await portal.send({ method: 'POST', url: sendUrl, cookies, form: { codeSentViaEmail: 'true' } });
  expect(await portal.sql`select from email_code`).toEqual([]);
  expect(await signedInAs(portal, cookies)).toBeNull();
});

describe('an app to be set up after a code by email', () => {
  // Docs/decisions/0014: whoever must register an app first proves what they can prove, a code by email.

  const asked = '/portal/x?a=1';
  const mailScreen = `/portal/twoFactor?redirectURL=${encodeURIComponent(asked)}&codeSentViaEmail=true`;
  const appScreen = `/portal/twoFactorRegistration?redirectURL=${encodeURIComponent(asked)}`;

  /** Bob has confirmed codes by email, and his customer requires an app since. */
  async function tightened(query = ''): Promise<Browser> {
    const half = await halfSession(portal, 'bob');
    const answer = await verify(portal, await codeByMail(portal, 'bob'), half, { query });
    portal.wait(60_000);
    await portal.sql`update customer set two_factor = 'app' where key = 'mail'`;
    return cookiesOf(answer);
  }

  async function landing(username: string, cookies: Browser = {}): Promise<{ to: string | undefined; half: Browser }> {
    const form = { username, password: testPassword, redirectURL: asked };
    const answer = await portal.signIn(username, testPassword, { form, cookies });
    return { to: answer.headers.location, half: { ...cookies, ...cookiesOf(answer) } };
  }

  /** The same browser after a right code by email. */
  async function proven(half: Browser, username = 'bob'): Promise<Browser> {
    return { ...half, ...cookiesOf(await verify(portal, await codeByMail(portal, username), half)) };
  }

  const secretOf = async (cookies: Browser) => {
    const answer = await portal.send({ url: registrationUrl, cookies });
    return [answer.statusCode, answer.body.includes('totpSecret')];
  };
  const [refused, gone] = [
    [409, false],
    [401, false],
  ];

  describe('MF-12 a user who has confirmed codes by email, and whose customer requires an app since', () => {
    it('MF-12 sees no key with the password alone, on no page and by no call', async () => {
      await tightened();
      const { to, half } = await landing('bob');
      expect(to).toBe(mailScreen);
      expect(await secretOf(half)).toEqual(refused);
      for (const url of [appScreen, `${appScreen}&codeSentViaEmail=true`])
        expect((await pageOf(portal, { url, cookies: half })).location).toContain('/portal/twoFactor?');
      const page = await pageOf(portal, { url: mailScreen, cookies: half });
      expect([page.status, page.registration]).toEqual([200, undefined]);
      expect(page.secondFactor).toMatchObject({ account: 'bob', mayRemember: false, mayRecover: false });
      expect(await portal.sql`select from pending_totp`).toEqual([]);
    });

    it('MF-12 EM-04 is asked for the code by email first, then sets up the app, and only then is in', async () => {
      await tightened();
      const other = await halfSession(portal, 'bob', { from: '192.0.2.1' });
      portal.wait(1000);
      const { half } = await landing('bob');
      const answer = await verify(portal, await codeByMail(portal, 'bob'), half);
      expect([verdict(answer), answer.headers[codeAnswerHeaders.next]]).toEqual([true, 'registration']);
      expect(Object.keys(cookiesOf(answer))).toEqual(['vestibule-session']);
      const next = { ...half, ...cookiesOf(answer) };
      expect([await signedInAs(portal, half), await signedInAs(portal, next)]).toEqual([null, null]);
      expect(await secretOf(half), 'the former token is worth nothing').toEqual(gone);
      // Another sign-in of theirs that waits is not spared.
      expect((await portal.send({ url: registrationUrl, cookies: other, from: '192.0.2.1' })).statusCode).toBe(409);
      for (const url of [mailScreen, '/portal/twoFactor'])
        expect((await pageOf(portal, { url, cookies: next })).location).toContain('/portal/twoFactorRegistration');
      expect((await pageOf(portal, { url: appScreen, cookies: next })).registration).toBeDefined();
      const { cookies } = await registerApp(portal, next);
      expect(await signedInAs(portal, cookies)).toBe('bob');
      const events = await portal.sql`select event from audit_event order by id desc limit 3`;
      expect(events.map(({ event }) => event)).toEqual(['signed-in', 'second-factor-asked', 'second-factor-asked']);
    });
  });

  describe('MF-12 a user of a customer that requires an app', () => {
    it.each([
      ['admits', [], true],
      ['admits from elsewhere', ['203.0.113.0/24'], true],
      ['is disabled', [], false],
    ])(
      'MF-12 who also belongs to one that requires codes by email confirms it first, wherever that one %s',
      async (_what, networks, active) => {
        await addCustomer(portal, 'strict', { twoFactor: 'email', networks });
        await addUser(portal, { username: 'dora', customers: ['app', 'plain', 'strict'] });
        await portal.sql`update customer set active = ${active} where key = 'strict'`;
        const { to, half } = await landing('dora');
        expect(to).toBe(`${appScreen}&codeSentViaEmail=true`);
        expect(await secretOf(half)).toEqual(refused);
        const next = await proven(half, 'dora');
        expect(await signedInAs(portal, next)).toBeNull();
        await registerApp(portal, next);
      },
    );
  });
});

describe('who may set up a factor', () => {
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
    ['a passkey', byPasskey, asked, 'may'],
    ['MF-12 a passkey where a customer that asks takes none', byPasskey, untaken, 'signInAgain'],
    ['a half session that waits for the app alone', { ...half, waitsFor: ['app'] }, asked, 'may'],
    ['MF-12 a half session whose user has a passkey', { ...half, waitsFor: ['passkey'] }, asked, 'byPasskey'],
    ['MF-15 a provider that is the whole account', byProvider, managed, 'may'],
    ['a provider that does not say when', { ...byProvider, provenAt: null }, managed, 'signInAgain'],
    ['MF-15 a provider beside a password', byProvider, { ...managed, hasPassword: true }, 'notFromProvider'],
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

    it('MF-15 by a provider sets up no app, and is sent to sign in without it', async () => {
      const cookies = await halfSession(portal, 'alice');
      await sessionByConnection(portal, 'alice', 'app');
      await portal.sql`update session set waits_for = '{app}'`;
      expect(await mayAsk(cookies)).toBe(false);
      expect(await pageFor(cookies)).toEqual(elsewhere('provider', screen, null));
      await portal.sql`update portal_user set password_hash = null where username = 'alice'`;
      expect(await mayAsk(cookies)).toBe(true);
    });
  });
});
