import { describe, expect, it } from 'vitest';
import { addCustomer, signedInAs } from '#test/support/accounts-for-test.ts';
import { givePasskey, signInWithPasskey } from '#test/support/passkey-sign-in-for-test.ts';
import { cookiesOf } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { browserForTest, sessionByConnection } from '#test/support/sso-for-test.ts';
import {
  type Browser,
  codeByMail,
  halfSession,
  pageOf,
  registerApp,
  registrationUrl,
  startTwoFactorAfresh,
  verify,
} from '#test/support/two-factor-for-test.ts';

const portal = portalOfFile({ each: startTwoFactorAfresh });

const screen = '/portal/twoFactorRegistration';
const ask = async (cookies: Browser) => {
  const answer = await portal.send({ url: registrationUrl, cookies });
  return [answer.statusCode, answer.body.includes('totpSecret')];
};
const join = (username: string, key: string) => portal.sql`
  insert into membership select u.id, c.id from portal_user u, customer c where u.username = ${username} and c.key = ${key}`;
const turnOff = (key: string) => portal.sql`update customer set passkeys = 'off' where key = ${key}`;

it('MF-12 a password sets up no app for who has a passkey, and the page asks for that', async () => {
  const passkey = await givePasskey(portal, 'alice');
  const browser = browserForTest(portal);
  Object.assign(browser.cookies, await halfSession(portal, 'alice'));
  expect(await ask(browser.cookies)).toEqual([409, false]);
  const shown = await pageOf(portal, { url: screen, cookies: browser.cookies });
  expect(shown.screen).toEqual({
    name: 'registerElsewhere',
    why: 'passkey',
    comesBackTo: null,
    goesOnTo: null,
    hasPasskey: true,
  });
  expect(await portal.sql`select from pending_totp`).toEqual([]);
  await signInWithPasskey(browser, passkey, {}, {}, { kind: 'second-factor' });
  expect(await signedInAs(portal, browser.cookies)).toBe('alice');
});

it('nor after a code by email, which is less than the app that a customer takes the passkey for', async () => {
  await join('alice', 'mail');
  await givePasskey(portal, 'alice');
  const half = await halfSession(portal, 'alice');
  const next = { ...half, ...cookiesOf(await verify(portal, await codeByMail(portal, 'alice'), half)) };
  expect(await ask(next)).toEqual([409, false]);
  expect((await pageOf(portal, { url: screen, cookies: next })).screen?.name).toBe('registerElsewhere');
});

it('nor while the customer that would take the passkey is disabled, or admits from elsewhere only', async () => {
  await addCustomer(portal, 'strict', { twoFactor: 'app', networks: ['203.0.113.0/24'] });
  await turnOff('app');
  await join('alice', 'strict');
  await givePasskey(portal, 'alice');
  const cookies = await halfSession(portal, 'alice');
  expect(await ask(cookies)).toEqual([409, false]);
  await portal.sql`update customer set active = false where key = 'strict'`;
  expect(await ask(await halfSession(portal, 'alice'))).toEqual([409, false]);
});

it('does where no customer takes the passkey for an app, for another address of the portal, and once it is removed', async () => {
  await givePasskey(portal, 'alice');
  await join('alice', 'plain');
  await turnOff('app');
  expect(await ask(await halfSession(portal, 'alice'))).toEqual([200, true]);
  await portal.sql`update customer set passkeys = 'on'`;
  await portal.sql`update passkey set rp_id = 'former.example'`;
  expect(await ask(await halfSession(portal, 'alice'))).toEqual([200, true]);
  await portal.sql`update passkey set rp_id = 'localhost'`;
  expect(await ask(await halfSession(portal, 'alice'))).toEqual([409, false]);
  await portal.sql`delete from passkey`;
  await registerApp(portal, await halfSession(portal, 'alice'));
});

it('a sign-in by a provider sets up an app only for who has no passkey, which is a way of their own', async () => {
  await givePasskey(portal, 'alice');
  const cookies = await halfSession(portal, 'alice');
  await sessionByConnection(portal, 'alice', 'app');
  await portal.sql`update session set waits_for = '{app}'`;
  await portal.sql`update portal_user set password_hash = null where username = 'alice'`;
  expect(await ask(cookies)).toEqual([409, false]);
  await portal.sql`delete from passkey`;
  expect(await ask(cookies)).toEqual([200, true]);
});

describe('a session by a provider, of somebody with passkeys and no password,', () => {
  const next = async () => {
    const cookies = await halfSession(portal, 'alice');
    await sessionByConnection(portal, 'alice', 'app');
    await portal.sql`update portal_user set password_hash = null where username = 'alice'`;
    await givePasskey(portal, 'alice');
    return async () => {
      const { screen: shown } = await pageOf(portal, { url: screen, cookies });
      return shown?.name === 'registerElsewhere' && [shown.why, shown.comesBackTo];
    };
  };

  it('is sent to sign in by one that works', async () => {
    expect(await (await next())()).toEqual(['provider', screen]);
  });

  it.each([
    ['which are for another domain', "update passkey set rp_id = 'elsewhere.example'"],
    ['which no customer takes', "update customer set passkeys = 'off'"],
  ])('%s, to the administrator', async (_, change) => {
    const shown = await next();
    await portal.sql.unsafe(change);
    expect(await shown()).toEqual(['provider', null]);
  });
});
