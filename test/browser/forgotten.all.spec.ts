import type { Page } from '@playwright/test';
import { onDatabaseOf } from './portal-database.ts';
import { changeForm, forgottenForm, hashOf, linkFor, newPassword } from './reset-forms.ts';
import { expect, test } from './test.ts';
import { textsOf } from './texts.ts';

const texts = textsOf('en');
const heading = (page: Page) => page.getByRole('heading', { level: 1 });

test('a form that is shown again, at the address that it was sent to, is there after a reload and when that is opened', {
  tag: '@without-script-only',
}, async ({ page, watch }) => {
  watch.expect(/status of 400/);
  await page.goto('/portal/forgotten?lang=en');
  await forgottenForm(page).send('not an address');
  await expect(page).toHaveURL('/portal/password/forgotten?lang=en');
  await expect(forgottenForm(page).email).toHaveValue('not an address');
  await page.reload();
  await expect(forgottenForm(page).email).toHaveValue('not an address');
  await page.goto(page.url());
  await expect(page).toHaveURL('/portal/forgotten?lang=en');
  await expect(forgottenForm(page).button).toBeEnabled();
  await page.goBack();
  await expect(forgottenForm(page).button).toBeEnabled();
});

test('Back after a request sends no second email', async ({ page, portal, inbox, newPerson, javaScriptEnabled }) => {
  const { username, email } = await newPerson();
  const posts: string[] = [];
  // The sign-in page asks for passkey options by itself.
  page.on(
    'request',
    (request) => request.method() === 'POST' && !request.url().endsWith('/options') && posts.push(request.url()),
  );
  await page.goto('/portal/login');
  await page.getByRole('link', { name: 'Forgot password?' }).click();
  await forgottenForm(page).send(email);
  await expect(heading(page)).toHaveText('Check your inbox');
  await page.goBack();
  // With JavaScript the form's history entry was replaced; without, the form is there, and was not sent again.
  await expect(page).toHaveURL(javaScriptEnabled ? '/portal/login' : '/portal/forgotten');
  await expect(
    page.getByRole('button', { name: javaScriptEnabled ? 'Sign in' : 'Send link', exact: true }),
  ).toBeEnabled({
    enabled: !javaScriptEnabled,
  });
  await page.goForward();
  await expect(heading(page)).toHaveText('Check your inbox');
  await page.reload();
  await expect(heading(page)).toHaveText('Check your inbox');
  await inbox.take(email, 'resetLink');
  expect(posts).toEqual([`${portal.origin}/portal/password/forgotten`]);
  expect(await portal.eventsOf(username, 'password-forgotten')).toHaveLength(1);
});

test('two quick presses send one email', async ({ page, portal, inbox, newPerson }) => {
  const { username, email } = await newPerson();
  const posts: string[] = [];
  page.on('request', (request) => request.method() === 'POST' && posts.push(request.url()));
  await page.goto('/portal/forgotten');
  const form = forgottenForm(page);
  await form.email.fill(email);
  await form.button.dblclick();
  await expect(heading(page)).toHaveText('Check your inbox');
  await inbox.take(email, 'resetLink');
  const outcomes = async () => (await portal.eventsOf(username, 'password-forgotten')).map(({ reason }) => reason);
  await expect.poll(outcomes).toHaveLength(posts.length);
  expect((await outcomes()).filter((outcome) => outcome !== 'on-its-way')).toEqual(['link-mailed']);
  expect(inbox.count(email, 'resetLink')).toBe(1);
});

test('it can be sent again, and the newest link alone works', async ({ page, inbox, newPerson }) => {
  const { email } = await newPerson();
  await page.goto('/portal/forgotten');
  await forgottenForm(page).send(email);
  await expect(heading(page)).toHaveText('Check your inbox');
  const first = await inbox.take(email, 'resetLink');
  // Within half a second it would count as the same press.
  await expect
    .poll(async () => {
      await page.goto('/portal/emailInfo');
      await page.getByRole('link', { name: 'Send it again or use another address' }).click();
      await forgottenForm(page).send(email);
      await expect(heading(page)).toHaveText('Check your inbox');
      return inbox.count(email, 'resetLink');
    })
    .toBeGreaterThan(1);
  const second = await inbox.take(email, 'resetLink');
  expect(second.link).not.toBe(first.link);
  await page.goto(first.link);
  await expect(page.getByText(texts['changed-failed-page-error-3'])).toBeVisible();
  await page.goto(second.link);
  await changeForm(page).send(newPassword);
  await expect(heading(page)).toHaveText('Password changed');
});

test('an expired link says so at once, and offers a new one', async ({ page, portal, inbox, newPerson }) => {
  const { username, email } = await newPerson();
  const link = await linkFor({ portal, inbox }, email);
  await onDatabaseOf(
    portal,
    (sql) => sql`
      update reset_link set made_at = now() - interval '1 hour 1 second', ends_at = now() - interval '1 second'
      where user_id = (select id from portal_user where username = ${username})`,
  );
  await page.goto(link);
  await expect(page).toHaveURL('/portal/forgottenChangeFailedInfo?reason=3&lang=en');
  await expect(heading(page)).toHaveText('Password not changed');
  await expect(page.getByText('This link has expired. Ask for a new one.')).toBeVisible();
  await page.getByRole('link', { name: 'Send a new link' }).click();
  await expect(page).toHaveURL('/portal/forgotten?lang=en');
  await forgottenForm(page).send(email);
  await page.goto((await inbox.take(email, 'resetLink')).link);
  await changeForm(page).send(newPassword);
  await expect(heading(page)).toHaveText('Password changed');
});

test('a link that a mail program has decoded is its own, whatever page somebody else chose to follow', async ({
  page,
  portal,
  inbox,
  newPerson,
}) => {
  const [{ username, email }, other] = [await newPerson(), await newPerson()];
  const others = hashOf(await linkFor({ portal, inbox }, other.email));
  const destination = `/portal/portal.html#/forgottenChange?hash=${others}`;
  await page.goto(`/portal/forgotten?${new URLSearchParams({ destination })}`);
  await forgottenForm(page).send(email);
  const { link } = await inbox.take(email, 'resetLink');
  await page.goto(decodeURIComponent(link));
  await expect(changeForm(page).hash).toHaveValue(hashOf(link));
  await changeForm(page).send(newPassword);
  await expect(heading(page)).toHaveText('Password changed');
  expect(await portal.signInPlainly(username, newPassword)).not.toBeNull();
  expect(await portal.signInPlainly(other.username, newPassword)).toBeNull();
});

test('after too many requests from an address the form says when to try again, and keeps what was typed', async ({
  page,
  portal,
  inbox,
  newPerson,
  javaScriptEnabled,
  watch,
}) => {
  watch.expect(/status of 429/, /general-error-something-went-wrong/);
  const { email } = await newPerson();
  await page.goto('/portal/forgotten');
  const key = 'reset-address:127.0.0.1';
  await onDatabaseOf(
    portal,
    (sql) => sql`
      insert into throttle (key, failures, changed_at, blocked_until, admitted)
      values (${key}, 101, now(), now() + interval '290 seconds', false)
      on conflict (key) do update set blocked_until = excluded.blocked_until`,
  );
  try {
    const answered = page.waitForResponse('**/password/forgotten');
    await forgottenForm(page).send(email);
    const answer = await answered;
    expect(answer.status()).toBe(429);
    expect(Number(await answer.headerValue('retry-after'))).toBeGreaterThan(200);
    if (javaScriptEnabled) {
      await expect(page.getByRole('alert')).toContainText('Try again in 5 minutes.');
      await expect(page.getByRole('alert')).toBeFocused();
    } else await expect(page.getByText(texts['notice-tooManyAttempts-title'])).toBeVisible();
    await expect(forgottenForm(page).email).toHaveValue(email);
  } finally {
    await onDatabaseOf(portal, (sql) => sql`delete from throttle where key = ${key}`);
  }
  await forgottenForm(page).button.click();
  await expect(heading(page)).toHaveText('Check your inbox');
  await inbox.take(email, 'resetLink');
});

test('asking for a reset asks for an email address first', async ({ page }) => {
  await page.goto('/portal/forgotten');
  const { email, button } = forgottenForm(page);
  await expect(button).toBeDisabled();
  for (const wrong of ['ada', 'ada@', '@acme.test', 'a da@acme.test']) {
    await email.fill(wrong);
    await expect(button).toBeDisabled();
  }
  await email.blur();
  await expect(page.getByText('Enter the full address, such as name@company.example.')).toBeVisible();
  await email.fill('ada@acme.test');
  await expect(button).toBeEnabled();
});
