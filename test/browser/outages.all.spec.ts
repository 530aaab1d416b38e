import { axeScript, expectAccessible } from './accessibility-faults.ts';
import { forgottenForm, heading, signIn } from './forms.ts';
import { PlainBrowser } from './plain-browser.ts';
import { addCustomerTo, addUserTo } from './portal-accounts.ts';
import { onDatabaseOf } from './portal-database.ts';
import { PortalUnderTest } from './portal-under-test.ts';
import { expect, password, test } from './test.ts';
import { texts } from './texts.ts';

// The server, the mail server or the power is away, and comes back.

test('asking for a link while the server is away: the form says so, keeps the address and sends it later', async ({
  page,
  watch,
  inbox,
  newPerson,
}) => {
  watch.expect(/status of 503/, /general-error-something-went-wrong/);
  const { email } = await newPerson();
  await page.addInitScript({ path: axeScript });
  await page.route(
    '**/password/forgotten',
    (route) => route.fulfill({ status: 503, headers: { 'retry-after': '5' } }),
    {
      times: 1,
    },
  );
  await page.goto('/portal/forgotten');
  const form = forgottenForm(page);
  await form.send(email);
  const alert = page.getByRole('alert');
  await expect(alert).toContainText(texts['problem-503-text']);
  await expect(alert).toHaveText(/Try again in \d\sseconds\.$/);
  await expect(alert).toBeFocused();
  await expectAccessible(page);
  await expect(form.email).toHaveValue(email);
  await form.button.click();
  await expect(heading(page)).toHaveText(texts['email-info-title']);
  await inbox.take(email, 'resetLink');
  expect(inbox.count(email, 'resetLink')).toBe(1);
});

test('while the mail server is away nobody notices; the email comes later, once', async ({
  page,
  portal,
  inbox,
  newPerson,
}) => {
  const waiting = async () =>
    await onDatabaseOf(portal, async (sql) => (await sql`select from job where queue = 'mail'`).length);
  const { email } = await newPerson();
  await inbox.server.shut();
  try {
    await page.goto('/portal/forgotten');
    await forgottenForm(page).send(email);
    await expect(heading(page)).toHaveText(texts['email-info-title']);
    await expect.poll(() => portal.log).toContain('a server is down');
    expect(portal.log).not.toContain(email);
    expect(await waiting()).toBe(1);
  } finally {
    await inbox.server.reopen();
  }
  await inbox.take(email, 'resetLink');
  await expect.poll(waiting).toBe(0);
  expect(inbox.count(email, 'resetLink')).toBe(1);
});

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
      const browser = await PlainBrowser.signIn(portal, user, password);
      const underWay = users.map((name) => PlainBrowser.signIn(portal, name, password).catch(() => null));
      await Promise.race(underWay);
      await portal.kill();
      await Promise.all(underWay);

      await portal.start();
      expect(await browser.user()).toBe(user);
      const listed = JSON.parse(await portal.mustRun(['user', 'list', '--json'])) as { username: string }[];
      expect(listed.map(({ username }) => username).sort()).toEqual(users);
    }
    for (const user of users) await PlainBrowser.signIn(portal, user, password);
    await expect(PlainBrowser.signIn(portal, 'user-0', 'wrong')).rejects.toThrow('cannot sign in');
    const { page } = await anotherBrowser({ baseURL: portal.origin });
    await signIn(page, 'user-2', password);
    expect(await portal.stop()).toBe(0);
  } finally {
    await portal.discard();
  }
});
