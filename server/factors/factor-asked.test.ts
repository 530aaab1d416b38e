import { beforeEach, expect, it } from 'vitest';
import { addCustomer, addUser, signedInAs } from '#test/support/accounts-for-test.ts';
import { testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { userId } from '#test/support/reset-for-test.ts';
import { giveApp, halfSession, sendUrl, startTwoFactorAfresh } from '#test/support/two-factor-for-test.ts';

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
