import type { Page } from '@playwright/test';
import { axeScript, expectAccessible } from './axe.ts';
import { type CuttablePortal, startCuttablePortal } from './cuttable-portal.ts';
import { changeForm, forgottenForm, hashOf, linkFor, newPassword } from './reset-forms.ts';
import { test as base, expect } from './test.ts';
import { textsOf } from './texts.ts';

const texts = textsOf('en');
const heading = (page: Page) => page.getByRole('heading', { level: 1 });

const test = base.extend<{ cuttable: CuttablePortal }>({
  cuttable: [
    async ({ oncePerWorker, inbox }, use) => await use(await oncePerWorker.get(startCuttablePortal, inbox.env)),
    { timeout: 90_000 },
  ],
  portal: async ({ cuttable }, use) => await use(cuttable.portal),
});

// One portal for all tests in this file.
test.describe.configure({ mode: 'default' });

test.beforeEach(({ watch }) => watch.expect(/status of 503/, /general-error-something-went-wrong/));
test.afterEach(({ cuttable }) => cuttable.database.mend());

test('requesting a link while the database is down: the form says so, keeps the address and sends it later', async ({
  page,
  cuttable: { database },
  inbox,
  newPerson,
}) => {
  const { email } = await newPerson();
  await page.addInitScript({ path: axeScript });
  const logged = page.waitForEvent('console', (message) => message.text() === 'general-error-something-went-wrong');
  await page.goto('/portal/forgotten');
  const form = forgottenForm(page);
  database.cut();
  await form.send(email);
  await logged;
  const alert = page.getByRole('alert');
  await expect(alert).toContainText(texts['problem-503-text']);
  await expect(alert).toHaveText(/Try again in \d\sseconds\.$/);
  await expect(alert).toBeFocused();
  await expect(page).toHaveURL('/portal/forgotten');
  await expect(page.locator('.veil')).toHaveCount(0);
  await expect(form.button).toBeEnabled();
  await expect(form.email).toHaveValue(email);
  await expectAccessible(page);
  // Pressed again it says so again.
  await form.email.focus();
  await form.button.click();
  await expect(alert).toBeFocused();

  database.mend();
  await form.button.click();
  await expect(heading(page)).toHaveText('Check your inbox');
  await inbox.take(email, 'resetLink');
  expect(inbox.count(email, 'resetLink')).toBe(1);
});

test('without JavaScript, requesting a link while the database is down answers with the form and the entry', {
  tag: '@without-script-only',
}, async ({ page, cuttable: { database }, inbox, newPerson }) => {
  const { email } = await newPerson();
  await page.goto('/portal/forgotten');
  database.cut();
  const answered = page.waitForResponse('**/password/forgotten');
  await forgottenForm(page).send(email);
  const answer = await answered;
  expect(answer.status()).toBe(503);
  expect(await answer.headerValue('retry-after')).toBe('5');
  await expect(heading(page)).toHaveText('Reset your password');
  await expect(page.getByText(texts['notice-unavailable-title'])).toBeVisible();
  await expect(page.getByText(texts['notice-unavailable-text'])).toBeVisible();
  await expect(forgottenForm(page).email).toHaveValue(email);

  database.mend();
  await forgottenForm(page).button.click();
  await expect(page).toHaveURL('/portal/emailInfo');
  await inbox.take(email, 'resetLink');
  expect(inbox.count(email, 'resetLink')).toBe(1);
});

test('changing a password while the database is down answers with the form and its link, which works later', async ({
  page,
  portal,
  cuttable: { database },
  inbox,
  newPerson,
  javaScriptEnabled,
}) => {
  const { username, email } = await newPerson();
  const link = await linkFor({ portal, inbox }, email);
  await page.addInitScript({ path: axeScript });
  await page.goto(link);
  database.cut();
  const answered = page.waitForResponse('**/password/change*');
  await changeForm(page).send(newPassword);
  const answer = await answered;
  expect(answer.status()).toBe(503);
  expect(await answer.headerValue('retry-after')).toBe('5');
  await expect(heading(page)).toHaveText('Choose a new password');
  const said = page.getByText(texts['notice-unavailable-title']);
  await expect(said).toBeVisible();
  await expect(page.locator('html')).toHaveAttribute('lang', 'en');
  const form = changeForm(page);
  await expect(form.hash).toHaveValue(hashOf(link));
  await expect(form.password).toHaveValue('');
  if (javaScriptEnabled) {
    await expect(page.getByRole('alert').filter({ has: said })).toBeFocused();
    // The page has an address of its own again: a reload requests the form, and repeats no post.
    expect(new URL(page.url()).pathname).toBe('/portal/forgottenChange');
    expect(page.url()).not.toContain(hashOf(link));
    await expectAccessible(page);
    await page.reload();
    await expect(form.hash).toHaveValue(hashOf(link));
  }

  database.mend();
  await form.send(newPassword);
  await expect(heading(page)).toHaveText('Password changed');
  expect(await portal.signInPlainly(username, newPassword)).not.toBeNull();
});
