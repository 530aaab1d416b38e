import { addCustomerTo, addUserTo } from './portal-accounts.ts';
import { PortalUnderTest } from './portal-under-test.ts';
import { signIn } from './sign-in-form.ts';
import { expect, password, test } from './test.ts';

test('RL-01 three power cuts during sign-ins lose no user, no password and no session', async ({
  anotherBrowser,
  watch,
}) => {
  test.setTimeout(180_000);
  const portal = await PortalUnderTest.prepare();
  watch.know(portal.origin);
  try {
    await portal.start();
    await addCustomerTo(portal, 'acme');
    const users: string[] = [];
    for (let round = 0; round < 3; round += 1) {
      const user = `user-${round}`;
      await addUserTo(portal, user, password, { customers: ['acme'] });
      users.push(user);
      const session = await portal.signInPlainly(user, password);
      expect(session).not.toBeNull();
      const underWay = users.map((name) => portal.signInPlainly(name, password).catch(() => null));
      await Promise.race(underWay);
      await portal.kill();
      await Promise.all(underWay);

      await portal.start();
      expect(await portal.userOfSession(session as string), `the session of ${user}`).toBe(user);
      const listed = JSON.parse((await portal.runProcess(['user', 'list', '--json'])).out) as { username: string }[];
      expect(listed.map(({ username }) => username).sort()).toEqual(users);
    }
    for (const user of users) expect(await portal.signInPlainly(user, password), user).not.toBeNull();
    expect(await portal.signInPlainly(users[0] as string, 'wrong')).toBeNull();
    const { page } = await anotherBrowser({ baseURL: portal.origin });
    await signIn(page, 'user-2', password);
    expect(await portal.stop()).toBe(0);
  } finally {
    await portal.discard();
  }
});
