import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { cookiesOf, type PortalForTest, portalForTest, testPassword } from '#testing/portal-for-test.ts';
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
} from '#testing/two-factor-for-test.ts';

let portal: PortalForTest;
beforeAll(async () => {
  portal = await portalForTest();
});
beforeEach(() => startTwoFactorAfresh(portal));
afterAll(() => portal.close());

const outside = { from: '198.51.100.99' };
const inside = { from: '203.0.113.9' };
const page = '/portal/twoFactorRegistration';

const ask = (cookies: Browser, from = outside) => portal.send({ url: registrationUrl, cookies, ...from });

describe('MF-12 a password at a customer without a second factor, for a user of one that requires it', () => {
  const signIn = async (username: string, from = outside) =>
    cookiesOf(await portal.signIn(username, testPassword, from));

  it('MF-12 sets up no app where only the first one admits', async () => {
    for (const twoFactor of ['email', 'app'] as const) {
      const strict = `strict-${twoFactor}`;
      await addCustomer(portal, strict, { twoFactor, networks: ['203.0.113.0/24'] });
      await addUser(portal, { username: twoFactor, customers: [strict, 'plain'] });
      const cookies = await signIn(twoFactor);
      const answer = await ask(cookies);
      expect([answer.statusCode, answer.body.includes('totpSecret')]).toEqual([409, false]);
      const shown = await pageOf(portal, { url: `${page}?redirectURL=%2Fportal%2Fx`, cookies, ...outside });
      expect(shown.serverPage).toEqual({
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

  it('sets one up where the second one admits too, after its code', async () => {
    await addCustomer(portal, 'strict', { twoFactor: 'email', networks: ['203.0.113.0/24'] });
    await addUser(portal, { username: 'carl', customers: ['strict', 'plain'] });
    const half = await signIn('carl', inside);
    const full = { ...half, ...cookiesOf(await verify(portal, await codeByMail(portal, 'carl'), half, inside)) };
    expect((await ask(full, inside)).statusCode).toBe(200);
  });

  it('sets one up with a code that another customer required, or if the second one is disabled or requires none', async () => {
    await addCustomer(portal, 'strict', { twoFactor: 'email', networks: ['203.0.113.0/24'] });
    await addUser(portal, { username: 'carl', customers: ['strict', 'mail'] });
    const half = await signIn('carl');
    const full = { ...half, ...cookiesOf(await verify(portal, await codeByMail(portal, 'carl'), half, outside)) };
    expect((await ask(full)).statusCode).toBe(200);
    await addUser(portal, { username: 'dora', customers: ['strict', 'plain'] });
    const dora = await signIn('dora');
    await portal.sql`update customer set active = false where key = 'strict'`;
    expect((await ask(dora)).statusCode).toBe(200);
    await portal.sql`update customer set active = true, two_factor = 'off' where key = 'strict'`;
    expect((await ask(dora)).statusCode).toBe(200);
    await registerApp(portal, cookiesOf(await portal.signIn('dora', testPassword)));
  });
});
