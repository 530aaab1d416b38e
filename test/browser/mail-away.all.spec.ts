import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { MailInbox } from './mail-inbox.ts';
import { onDatabaseOf } from './portal-database.ts';
import type { PortalUnderTest } from './portal-under-test.ts';
import { changeForm, forgottenForm, newPassword } from './reset-forms.ts';
import { expect, password, startPortalWithUsers, test } from './test.ts';

const heading = (page: Page) => page.getByRole('heading', { level: 1 });

/** How many emails wait in a portal's database. */
async function waitingMails(portal: PortalUnderTest): Promise<number> {
  return await onDatabaseOf(portal, async (sql) => (await sql`select from job where queue = 'mail'`).length);
}

async function askFor(page: Page, email: string): Promise<void> {
  await page.goto('/portal/forgotten');
  await forgottenForm(page).send(email);
  await expect(heading(page)).toHaveText('Check your inbox');
}

test('while the mail server is down nobody notices; after recovery the email arrives, once', async ({
  page,
  portal,
  inbox,
  newPerson,
}) => {
  const { username, email } = await newPerson();
  await inbox.server.shut();
  try {
    await askFor(page, email);
    await expect.poll(() => portal.log).toContain('a server is down');
    expect(portal.log).not.toContain(email);
    expect(await waitingMails(portal)).toBe(1);
  } finally {
    await inbox.server.reopen();
  }
  const { link } = await inbox.take(email, 'resetLink');
  await expect.poll(() => waitingMails(portal)).toBe(0);
  expect(inbox.count(email, 'resetLink')).toBe(1);
  await page.goto(link);
  await expect(changeForm(page).username).toHaveValue(username);
  await changeForm(page).send(newPassword);
  await expect(heading(page)).toHaveText('Password changed');
});

test('an email is encrypted to a mail server that requires a login', async ({ anotherBrowser, watch }) => {
  const inbox = await MailInbox.open({ tls: 'starttls', auth: { user: 'portal@mail.test', password: 'p/w?#@' } });
  const portal = await startPortalWithUsers({ env: inbox.env });
  watch.know(portal.origin);
  try {
    const { page } = await anotherBrowser({ baseURL: portal.origin });
    await askFor(page, 'ada@acme.test');
    const letter = await inbox.take('ada@acme.test', 'resetLink');
    expect(letter).toMatchObject({ tls: expect.stringMatching(/^TLSv1\.[23]$/), sentBy: 'portal@mail.test' });
    await page.goto(letter.link);
    await changeForm(page).send(newPassword);
    await expect(heading(page)).toHaveText('Password changed');
    await inbox.take('ada@acme.test', 'passwordChanged');
    expect(portal.log).not.toMatch(/p\/w\?#@|p%2Fw/);
  } finally {
    await portal.discard();
    await inbox.close();
  }
});

test('without a mail server each email is a file that only the operator can read, with a working link', async ({
  anotherBrowser,
  watch,
}) => {
  const portal = await startPortalWithUsers();
  watch.know(portal.origin);
  const outbox = join(portal.env.VESTIBULE_DATA as string, 'outbox');
  try {
    expect(portal.log).toContain(`SMTP_URL is not set: emails are written to ${outbox} and are not delivered`);
    const { page } = await anotherBrowser({ baseURL: portal.origin });
    await askFor(page, 'ada@acme.test');
    // As in the documentation.
    const findLink = async () => (await portal.shell('grep -h hash= "$VESTIBULE_DATA"/outbox/*.eml')).out;
    await expect.poll(findLink).toContain(`${portal.origin}/portal/forgottenChange?hash=`);
    const [file = '', ...more] = readdirSync(outbox);
    expect(more).toEqual([]);
    expect(file).toMatch(/\.eml$/);
    expect(statSync(outbox).mode & 0o777).toBe(0o700);
    expect(statSync(join(outbox, file)).mode & 0o777).toBe(0o600);
    const mail = readFileSync(join(outbox, file), 'utf8');
    expect(mail).toMatch(/^To: ada@acme\.test$/m);
    expect(mail).toMatch(/^Subject: Choose a new password for Vestibule$/m);

    await page.goto(/https?:\S+/.exec(await findLink())?.[0] ?? '');
    await changeForm(page).send(newPassword);
    await expect(heading(page)).toHaveText('Password changed');
    expect(await portal.signInPlainly('ada', password)).toBeNull();
    expect(await portal.signInPlainly('ada', newPassword)).not.toBeNull();
    await expect.poll(() => readdirSync(outbox).filter((name) => name.endsWith('.eml')).length).toBe(2);
  } finally {
    await portal.discard();
  }
});
