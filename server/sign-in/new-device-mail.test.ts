import { beforeAll, describe, expect, it } from 'vitest';
import { addAttackFixtures, addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { codeNow, giveApp, verify } from '#test/support/two-factor-for-test.ts';

const portal = portalOfFile({ once: addAttackFixtures });

const firefox = { 'user-agent': 'Mozilla/5.0 (Windows NT 10.0; rv:143.0) Gecko/20100101 Firefox/143.0' };

async function mailsAfter(work: () => Promise<unknown>): Promise<string[]> {
  portal.mails.length = 0;
  await work();
  await portal.workOff();
  return portal.mails.map(({ recipient }) => recipient);
}

it('a sign-in from a new browser is reported by email once per browser, and only if a customer wants it', async () => {
  expect(await mailsAfter(() => portal.signIn('bob', testPassword))).toEqual([]);
  await portal.sql`update customer set new_device_mail = true where key = 'acme'`;
  let cookies: Record<string, string> = {};
  const first = async () => {
    cookies = cookiesOf(await portal.signIn('bob', testPassword, { headers: firefox }));
  };
  expect(await mailsAfter(first)).toEqual(['bob@acme.test']);
  expect(portal.mails[0]?.text).toContain('Firefox, Windows');
  expect(portal.mails[0]?.text).toContain('198.51.100.7');
  expect(await mailsAfter(() => portal.signIn('bob', testPassword, { cookies }))).toEqual([]);
  expect(await mailsAfter(() => portal.signIn('bob', testPassword))).toEqual(['bob@acme.test']);
});

it('a refused sign-in is not reported', async () => {
  await portal.sql`update customer set new_device_mail = true`;
  await addUser(portal, { username: 'gina' });
  const refused = async () => {
    for (const [username, password] of [
      ['gina', 'wrong'],
      ['dave', testPassword],
      ['carol', testPassword],
    ] as const)
      await portal.signIn(username, password);
  };
  expect(await mailsAfter(refused)).toEqual([]);
});

describe('a customer of the user that wants the mail, though it does not admit the sign-in', () => {
  beforeAll(async () => {
    await addCustomer(portal, 'lax');
    await addCustomer(portal, 'lax-app', { twoFactor: 'app' });
    await addCustomer(portal, 'strict', { networks: ['203.0.113.0/24'] });
    await portal.sql`update customer set new_device_mail = key = 'strict'`;
  });

  it('gets it at the sign-in that makes the browser known', async () => {
    await addUser(portal, { username: 'carl', customers: ['lax', 'strict'] });
    let cookies: Record<string, string> = {};
    const outside = async () => {
      cookies = cookiesOf(await portal.signIn('carl', testPassword));
    };
    expect(await mailsAfter(outside)).toEqual(['carl@acme.test']);
    expect(await mailsAfter(() => portal.signIn('carl', testPassword, { cookies, from: '203.0.113.7' }))).toEqual([]);
  });

  it('gets it after a code, too', async () => {
    await addUser(portal, { username: 'conny', customers: ['lax-app', 'strict'] });
    const secret = await giveApp(portal, 'conny');
    const outside = async () => {
      const cookies = cookiesOf(await portal.signIn('conny', testPassword));
      expect((await verify(portal, codeNow(portal, secret), cookies)).body).toBe('true');
    };
    expect(await mailsAfter(outside)).toEqual(['conny@acme.test']);
  });

  it('gets none once it is inactive', async () => {
    await addUser(portal, { username: 'cora', customers: ['lax', 'strict'] });
    await portal.sql`update customer set active = false where key = 'strict'`;
    expect(await mailsAfter(() => portal.signIn('cora', testPassword))).toEqual([]);
  });
});
