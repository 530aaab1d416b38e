import { beforeEach, describe, expect, it } from 'vitest';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import {
  type Browser,
  codeNow,
  giveApp,
  halfSession,
  pageOf,
  startTwoFactorAfresh,
  step,
  verify,
} from '#test/support/two-factor-for-test.ts';

const portal = portalOfFile();
beforeEach(async () => {
  await startTwoFactorAfresh(portal);
  await addCustomer(portal, 'strict', { twoFactor: 'app', networks: ['203.0.113.0/24'] });
  await addCustomer(portal, 'plain-strict');
  await portal.sql`update customer set remember_devices = false where key like '%strict'`;
});

const inside = '203.0.113.5';
const outside = '198.51.100.7';

/** Whether "do not ask again" is offered, and whether the browser is remembered if it requests that anyway. */
async function offeredAndSet(username: string, secret: string, from: string): Promise<[boolean | undefined, boolean]> {
  portal.wait(2 * step);
  const cookies = await halfSession(portal, username, { from });
  const page = await pageOf(portal, { url: '/portal/twoFactor', cookies, from });
  const answer = await verify(portal, codeNow(portal, secret), cookies, { query: '?remember=true', from });
  if (answer.body !== 'true') throw new Error(answer.body);
  return [page.secondFactor?.mayRemember, 'vestibule-remembered' in cookiesOf(answer)];
}

/** Whether a user is asked for a code in a browser. */
async function isAsked(username: string, cookies: Browser, from: string): Promise<boolean> {
  const { headers } = await portal.signIn(username, testPassword, { cookies, from });
  return headers.location?.startsWith('/portal/twoFactor') ?? false;
}

describe('whether devices are remembered', () => {
  it('is decided by all customers that require a factor and admit the address; others are ignored', async () => {
    for (const [username, customers, from, expected] of [
      ['one', ['app'], outside, true],
      ['two', ['strict'], inside, false],
      ['three', ['app', 'strict'], inside, false],
      ['four', ['app', 'strict'], outside, true],
      ['five', ['app', 'plain-strict'], outside, true],
      ['six', ['mail', 'strict'], inside, false],
      ['seven', ['plain-strict'], outside, true],
    ] as const) {
      await addUser(portal, { username, customers: [...customers] });
      const secret = await giveApp(portal, username);
      expect([username, ...(await offeredAndSet(username, secret, from))]).toEqual([username, expected, expected]);
    }
  });

  it('is evaluated at every sign-in: who admits the address, and what they allow now', async () => {
    await addUser(portal, { username: 'both', customers: ['app', 'strict'] });
    const secret = await giveApp(portal, 'both');
    const half = await halfSession(portal, 'both', { from: outside });
    let held = cookiesOf(
      await verify(portal, codeNow(portal, secret), half, { query: '?remember=true', from: outside }),
    );
    const remembered = async (from: string) => {
      const answer = await portal.signIn('both', testPassword, { cookies: held, from });
      held = { ...held, ...cookiesOf(answer) };
      delete held['vestibule-session'];
      return answer.headers.location === '/portal/portal.html';
    };
    expect(await remembered(outside)).toBe(true);
    expect(await remembered(inside)).toBe(false);
    expect(await remembered(outside)).toBe(true);
    await portal.sql`update customer set remember_devices = false where key = 'app'`;
    expect(await remembered(outside)).toBe(false);
    await portal.sql`update customer set remember_devices = true`;
    expect([await remembered(outside), await remembered(inside)]).toEqual([true, true]);
    await portal.sql`update customer set allowed_networks = '{203.0.113.0/24}'`;
    const refused = await portal.signIn('both', testPassword, { cookies: held, from: outside });
    expect(refused.headers.location).toBe('/portal/loginfail/ip?ipaddress=198.51.100.7');
    expect(await remembered(inside)).toBe(true);
    expect(await isAsked('both', {}, inside)).toBe(true);
  });
});
