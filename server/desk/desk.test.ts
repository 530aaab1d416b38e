import { beforeEach, expect, it } from 'vitest';
import { signedIn } from '#test/support/account-page-for-test.ts';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { atDesk, getDesk } from '#test/support/desk-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { emptyDatabase } from '#test/support/rows-for-test.ts';
import { type DeskVisit, largeRead } from './desk-visit.ts';

const portal = portalOfFile();
beforeEach(async () => {
  await emptyDatabase(portal);
  await addCustomer(portal, 'acme');
  await addUser(portal, { username: 'olga', role: 'operator' });
  await addUser(portal, { username: 'sam', role: 'support' });
  await addUser(portal, { username: 'ada', administers: ['acme'] });
  await addUser(portal, { username: 'alice' });
});

it.each(['olga', 'sam', 'ada'])('the desk opens to %s, who has a role', async (username) => {
  const cookies = await atDesk(portal, username);
  const answer = await getDesk(portal, '', cookies);
  expect([answer.statusCode, answer.body.includes('class="portal account desk"')]).toEqual([200, true]);
  expect((await portal.send({ url: '/portal/account', cookies })).body).toContain('href="/portal/desk"');
});

it.each(['GET', 'POST', 'PUT', 'OPTIONS'] as const)(
  '%s without a role is answered as where nothing is',
  async (method) => {
    const alice = await atDesk(portal, 'alice');
    for (const cookies of [alice, {}]) {
      const [desk, nothing] = await Promise.all(
        ['desk', 'nothing'].map((url) => portal.send({ method, url: `/portal/${url}`, cookies })),
      );
      expect(desk?.statusCode).toBe(nothing?.statusCode);
      expect(desk?.body.replaceAll('desk', 'nothing')).toBe(nothing?.body);
    }
  },
);

it('asks for the second factor that a sign-in has not proven', async () => {
  const cookies = await signedIn(portal, 'sam');
  const { body } = await getDesk(portal, '', cookies);
  expect(body).toContain('/portal/account/app');
});

it('the large reads of one customer’s administrators wait for each other, also after one that failed', async () => {
  let open = 0;
  let most = 0;
  const deskOf = (userId: string) => ({ sql: portal.sql, actor: { userId }, scope: ['acme'] }) as unknown as DeskVisit;
  const read = async (fails: boolean) => {
    most = Math.max(most, ++open);
    await portal.sql`select`;
    open -= 1;
    if (fails) throw new Error('too long');
  };
  const all = [true, false, false].map((fails, at) =>
    largeRead(deskOf(String(at)), () => read(fails)).catch((error: Error) => error.message),
  );
  expect([await Promise.all(all), most]).toEqual([['too long', undefined, undefined], 1]);
});
