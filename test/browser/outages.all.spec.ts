import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '#server/database/connect.ts';
import { openEmbedded } from '#server/database/embedded/embedded.ts';
import { type CuttableDatabase, cuttableDatabase } from '../support/cuttable-database.ts';
import { quickFolder } from '../support/quick-folder.ts';
import { axeScript, expectAccessible } from './accessibility-faults.ts';
import { changeForm, forgottenForm, hashOf, heading, linkFor, newPassword, signIn } from './forms.ts';
import { addCustomerTo, addUserTo } from './portal-accounts.ts';
import { onDatabaseOf } from './portal-database.ts';
import { PortalUnderTest } from './portal-under-test.ts';
import { test as base, both, expect, password, startPortalWithUsers } from './test.ts';
import { texts } from './texts.ts';

// The database, the mail server or the power is away, and comes back.

type Cuttable = { portal: PortalUnderTest; database: Pick<CuttableDatabase, 'cut' | 'mend'> };

/** A portal of its own, over a connection that a test can cut. */
const test = base.extend<{ cuttable: Cuttable }>({
  cuttable: [
    async ({ oncePerWorker, inbox, watch }, use) => {
      const cuttable = await oncePerWorker.get(startCuttablePortal, inbox.env);
      watch.know(cuttable.portal.origin);
      watch.expect(/status of 503/, /general-error-something-went-wrong/);
      await use(cuttable);
      cuttable.database.mend();
    },
    { timeout: 90_000 },
  ],
});

test.describe.configure({ mode: 'default' });

/** A PostgreSQL of its own, and a portal with users on it. */
async function startCuttablePortal(env: Record<string, string>) {
  const folder = mkdtempSync(join(quickFolder, 'vestibule-e2e-database-'));
  const { place, close } = await openEmbedded({ dataFolder: folder, log: { info() {}, warn() {} }, durable: false });
  const sql = connect(place, { poolSize: 1 });
  const database = await cuttableDatabase({ sql, place, close });
  const portal = await startPortalWithUsers({
    env: { ...env, DATABASE_URL: database.url, VESTIBULE_SECRET: 'x'.repeat(43) },
  });
  return {
    portal,
    database,
    async close() {
      await portal.discard();
      await database.close();
      await sql.end();
      await close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

test(
  'asking for a link while the database is away: the form says so, keeps the address and sends it later',
  both,
  async ({ anotherBrowser, cuttable: { portal, database }, inbox, javaScriptEnabled }) => {
    const name = javaScriptEnabled ? 'lou' : 'lea';
    const email = `${name}@acme.test`;
    await addUserTo(portal, name, password, { customers: ['acme'] });
    const { page } = await anotherBrowser({ baseURL: portal.origin });
    await page.addInitScript({ path: axeScript });
    await page.goto('/portal/forgotten');
    const form = forgottenForm(page);
    database.cut();
    const answered = page.waitForResponse('**/password/forgotten');
    await form.send(email);
    const answer = await answered;
    expect(answer.status()).toBe(503);
    expect(await answer.headerValue('retry-after')).toBe('5');
    if (javaScriptEnabled) {
      const alert = page.getByRole('alert');
      await expect(alert).toContainText(texts['problem-503-text']);
      await expect(alert).toHaveText(/Try again in \d\sseconds\.$/);
      await expect(alert).toBeFocused();
      await expect(page).toHaveURL('/portal/forgotten');
      await expect(page.locator('.veil')).toHaveCount(0);
      await expectAccessible(page);
      // Pressed again it says so again.
      await form.email.focus();
      await form.button.click();
      await expect(alert).toBeFocused();
    } else {
      await expect(heading(page)).toHaveText(texts['forgotten-title']);
      await expect(page.getByText(texts['notice-unavailable-text'])).toBeVisible();
    }
    await expect(form.email).toHaveValue(email);

    database.mend();
    await form.button.click();
    await expect(heading(page)).toHaveText(texts['email-info-title']);
    await inbox.take(email, 'resetLink');
    expect(inbox.count(email, 'resetLink')).toBe(1);
  },
);

test('changing a password while the database is away answers with the form and its link, which works later', async ({
  anotherBrowser,
  cuttable: { portal, database },
  inbox,
}) => {
  const link = await linkFor({ portal, inbox }, 'bob@acme.test');
  const { page } = await anotherBrowser({ baseURL: portal.origin });
  await page.addInitScript({ path: axeScript });
  await page.goto(link);
  database.cut();
  const answered = page.waitForResponse('**/password/change*');
  await changeForm(page).send(newPassword);
  expect((await answered).status()).toBe(503);
  const said = page.getByText(texts['notice-unavailable-title']);
  const form = changeForm(page);
  await expect(page.getByRole('alert').filter({ has: said })).toBeFocused();
  await expect(form.hash).toHaveValue(hashOf(link));
  await expect(form.password).toHaveValue('');
  // The page has an address of its own again: a reload asks for the form, and repeats no post.
  expect(new URL(page.url()).pathname).toBe('/portal/forgottenChange');
  expect(page.url()).not.toContain(hashOf(link));
  await expectAccessible(page);
  await page.reload();
  await expect(form.hash).toHaveValue(hashOf(link));

  database.mend();
  await form.send(newPassword);
  await expect(heading(page)).toHaveText(texts['changed-title']);
  expect(await portal.signInPlainly('bob', newPassword)).not.toBeNull();
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
  const { link } = await inbox.take(email, 'resetLink');
  await expect.poll(waiting).toBe(0);
  expect(inbox.count(email, 'resetLink')).toBe(1);
  await page.goto(link);
  await changeForm(page).send(newPassword);
  await expect(heading(page)).toHaveText(texts['changed-title']);
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
      const session = await portal.signInPlainly(user, password);
      expect(session).not.toBeNull();
      const underWay = users.map((name) => portal.signInPlainly(name, password).catch(() => null));
      await Promise.race(underWay);
      await portal.kill();
      await Promise.all(underWay);

      await portal.start();
      expect(await portal.userOfSession(session as string), `the session of ${user}`).toBe(user);
      const listed = JSON.parse(await portal.mustRun(['user', 'list', '--json'])) as { username: string }[];
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
