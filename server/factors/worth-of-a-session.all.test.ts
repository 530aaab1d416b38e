import { describe, expect, it } from 'vitest';
import { addCustomer, addUser, signedInAs } from '#test/support/accounts-for-test.ts';
import { givePasskey, signInWithPasskey } from '#test/support/passkey-sign-in-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { otherInstanceOfFile, portalOfFile } from '#test/support/portal-of-file.ts';
import { holdRows, untilWaiting } from '#test/support/rows-for-test.ts';
import { browserForTest } from '#test/support/sso-for-test.ts';
import {
  type Browser,
  codeByMail,
  codeNow,
  pageOf,
  registerApp,
  registrationUrl,
  startTwoFactorAfresh,
  verdict,
  verify,
} from '#test/support/two-factor-for-test.ts';
import { resetTwoFactor } from '../accounts/act-on-user.ts';
import { changeCustomer } from '../accounts/customers.ts';
import { changeUser } from '../accounts/users.ts';

const portal = portalOfFile({ each: startTwoFactorAfresh });
const another = otherInstanceOfFile(portal);

const outside = { from: '198.51.100.99' };
const page = '/portal/twoFactorRegistration';

const ask = (cookies: Browser) => portal.send({ url: registrationUrl, cookies, ...outside });

describe('MF-12 a password at a customer without a second factor, for a user of one that requires it', () => {
  const signIn = async (username: string) => cookiesOf(await portal.signIn(username, testPassword, outside));

  it('MF-12 sets up no app where only the first one admits', async () => {
    for (const twoFactor of ['email', 'app'] as const) {
      const strict = `strict-${twoFactor}`;
      await addCustomer(portal, strict, { twoFactor, networks: ['203.0.113.0/24'] });
      await addUser(portal, { username: twoFactor, customers: [strict, 'plain'] });
      const cookies = await signIn(twoFactor);
      const answer = await ask(cookies);
      expect([answer.statusCode, answer.body.includes('totpSecret')]).toEqual([409, false]);
      const shown = await pageOf(portal, { url: `${page}?redirectURL=%2Fportal%2Fx`, cookies, ...outside });
      expect(shown.screen).toEqual({
        name: 'registerElsewhere',
        why: 'network',
        comesBackTo: null,
        goesOnTo: '/portal/x',
      });
    }
  });

  it('MF-12 nor confirms one if the user has joined the other one since', async () => {
    await addCustomer(portal, 'strict', { twoFactor: 'email', networks: ['203.0.113.0/24'] });
    const cookies = await signIn('pat');
    const { totpSecret } = (await ask(cookies)).json<{ totpSecret: string }>();
    await portal.sql`
      insert into membership select u.id, c.id from portal_user u, customer c where u.username = 'pat' and c.key = 'strict'`;
    expect(verdict(await verify(portal, codeNow(portal, totpSecret), cookies, outside))).toBe(false);
    expect(await portal.sql`select from totp`).toEqual([]);
  });

  it('MF-12 nor while the other one is disabled: it can be used there once that is enabled', async () => {
    for (const twoFactor of ['email', 'app'] as const) {
      const strict = `strict-${twoFactor}`;
      await addCustomer(portal, strict, { twoFactor });
      await addUser(portal, { username: twoFactor, customers: [strict, 'plain'] });
      await changeCustomer(portal.sql, strict, { active: false }, portal.deps.now());
      const answer = await ask(await signIn(twoFactor));
      expect([answer.statusCode, answer.body.includes('totpSecret')]).toEqual([409, false]);
    }
  });
});

describe('MF-12 a user who has confirmed codes by email, and whose customers require none for a while', () => {
  const changeCustomers = async (customers: string[]) =>
    await changeUser(portal.sql, 'carl', { customers: () => customers }, portal.deps.now());
  const signInFor = async (redirectURL?: string) => {
    const form = { username: 'carl', password: testPassword, ...(redirectURL && { redirectURL }) };
    return await portal.signIn('carl', testPassword, { form });
  };

  const confirmed = async () => {
    await addUser(portal, { username: 'carl', customers: ['mail', 'plain'] });
    const half = cookiesOf(await signInFor());
    await verify(portal, await codeByMail(portal, 'carl'), half);
    portal.wait(60_000);
    await changeCustomers(['plain']);
  };

  it('MF-12 signs in with the password alone, but sets up no app by that', async () => {
    await confirmed();
    const signedIn = await signInFor();
    expect(signedIn.headers.location).toBe('/portal/portal.html');
    const cookies = cookiesOf(signedIn);
    expect((await ask(cookies)).statusCode).toBe(409);
    expect(verdict(await verify(portal, '123456', cookies))).toEqual([401, 'signInExpired']);
    expect((await pageOf(portal, { url: page, cookies })).screen?.name).toBe('signInOnceMore');
    expect(await portal.sql`select from pending_totp`).toEqual([]);
  });

  it('MF-12 enters a code at the sign-in that leads to the registration, and then sets one up', async () => {
    await confirmed();
    const half = await signInFor(page);
    expect(half.headers.location).toContain('codeSentViaEmail');
    expect((await ask(cookiesOf(half))).statusCode).toBe(409);
    const full = cookiesOf(await verify(portal, await codeByMail(portal, 'carl'), cookiesOf(half)));
    await registerApp(portal, full);
  });

  it('MF-12 does not confirm an app whose key was shown before', async () => {
    await addUser(portal, { username: 'carl', customers: ['plain'] });
    const cookies = cookiesOf(await signInFor());
    const { totpSecret } = (await ask(cookies)).json<{ totpSecret: string }>();
    await portal.sql`insert into email_factor select id, now() from portal_user where username = 'carl'`;
    const { statusCode, headers } = await verify(portal, codeNow(portal, totpSecret), cookies);
    expect([statusCode, headers['vestibule-notice']]).toEqual([409, 'signInTooOld']);
    expect(await portal.sql`select from totp`).toEqual([]);
  });

  it('sets one up with the password alone after a reset by the operator', async () => {
    await confirmed();
    await resetTwoFactor(portal.sql, 'carl', portal.deps.now());
    const signedIn = await signInFor(page);
    expect(signedIn.headers.location).toBe(page);
    await registerApp(portal, cookiesOf(signedIn));
  });
});

describe('MF-12 a browser that is remembered', () => {
  const remembered = async () => {
    const half = cookiesOf(await portal.signIn('bob', testPassword));
    const answer = await verify(portal, await codeByMail(portal, 'bob'), half, { query: '?remember=true' });
    portal.wait(24 * 3_600_000);
    return { 'vestibule-remembered': cookiesOf(answer)['vestibule-remembered'] ?? '' };
  };

  it('MF-12 skips the code, but sets up no app: its cookie may be a copy', async () => {
    const cookies = cookiesOf(await portal.signIn('bob', testPassword, { cookies: await remembered() }));
    expect((await ask(cookies)).statusCode).toBe(409);
    expect(verdict(await verify(portal, '123456', cookies))).toEqual([401, 'signInExpired']);
    expect((await pageOf(portal, { url: page, cookies })).screen?.name).toBe('signInOnceMore');
    expect(await portal.sql`select from pending_totp`).toEqual([]);
  });
});

describe('MF-12 a customer that has come to require a second factor since the password alone sufficed', () => {
  it.each(['email', 'app'])(
    'MF-12 %s: the session goes on, but sets up no app until its user signs in again',
    async (policy) => {
      await portal.sql`update customer set two_factor = 'off' where key = 'mail'`;
      const cookies = cookiesOf(await portal.signIn('bob', testPassword));
      const { totpSecret } = (await ask(cookies)).json<{ totpSecret: string }>();
      await portal.sql`insert into email_factor select id, now() from portal_user where username = 'bob'`;
      await portal.sql`update customer set two_factor = ${policy} where key = 'mail'`;
      expect((await ask(cookies)).statusCode).toBe(409);
      expect((await verify(portal, codeNow(portal, totpSecret), cookies)).statusCode).toBe(409);
      expect((await pageOf(portal, { url: page, cookies })).screen?.name).toBe('signInOnceMore');
      expect(await portal.sql`select from totp`).toEqual([]);
      expect(await signedInAs(portal, cookies)).toBe('bob');
      const half = cookiesOf(await portal.signIn('bob', testPassword));
      const next = cookiesOf(await verify(portal, await codeByMail(portal, 'bob'), half));
      await registerApp(portal, next);
    },
  );

  it('MF-12 nor while the code is being confirmed', async () => {
    const cookies = cookiesOf(await portal.signIn('pat', testPassword));
    const { totpSecret } = (await ask(cookies)).json<{ totpSecret: string }>();
    const release = await holdRows(
      another.pool,
      (sql) => sql`select from portal_user where username = 'pat' for update`,
    );
    const confirming = verify(portal, codeNow(portal, totpSecret), cookies);
    await untilWaiting(another.pool, 1);
    await portal.sql`update customer set two_factor = 'email' where key = 'plain'`;
    await release();
    expect(verdict(await confirming)).toBe(false);
    expect(await portal.sql`select from totp`).toEqual([]);
  });
});

describe('MF-12 a passkey, for a user of a customer that takes none', () => {
  const sessionOf = async () => {
    const browser = browserForTest(portal);
    const username = 'quinn';
    await addUser(portal, { username, customers: ['mail', 'plain'] });
    await signInWithPasskey(browser, await givePasskey(portal, username));
    return browser.cookies;
  };
  const off = () => portal.sql`update customer set passkeys = 'off' where key = 'mail'`;

  it('MF-12 sets up no app that would replace the codes by email there', async () => {
    await off();
    const cookies = await sessionOf();
    expect((await ask(cookies)).statusCode).toBe(409);
    // No other network would help, but a code does.
    const { screen } = await pageOf(portal, { url: page, cookies });
    expect(screen).toEqual({ name: 'signInOnceMore', comesBackTo: page, goesOnTo: '/portal/portal.html' });
    const half = cookiesOf(await portal.signIn('quinn', testPassword));
    const full = cookiesOf(await verify(portal, await codeByMail(portal, 'quinn'), half));
    expect((await ask(full)).statusCode).toBe(200);
  });

  it('MF-12 nor once that customer takes none any more', async () => {
    const cookies = await sessionOf();
    expect((await ask(cookies)).statusCode).toBe(200);
    await off();
    expect((await ask(cookies)).statusCode).toBe(409);
    await portal.sql`update customer set two_factor = 'app' where key = 'mail'`;
    expect((await ask(cookies)).statusCode).toBe(409);
  });
});
