import { expect, it } from 'vitest';
import { addAttackFixtures, addUser } from '#testing/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';

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
