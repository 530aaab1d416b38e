import type { Page } from '@playwright/test';
import { changeForm, hashOf, linkFor, newPassword } from './reset-forms.ts';
import { signInForm } from './sign-in-form.ts';
import { expect, test } from './test.ts';
import { textsOf } from './texts.ts';

const texts = textsOf('en');
const heading = (page: Page) => page.getByRole('heading', { level: 1 });

test('the form posts only password, repeat and hash', async ({ page, portal, inbox, newPerson }) => {
  const { email } = await newPerson();
  const link = await linkFor({ portal, inbox }, email);
  await page.goto(link);
  const form = changeForm(page);
  await form.fill(newPassword);
  const posted = page.waitForRequest((request) => request.method() === 'POST');
  await form.button.click();
  expect([...new URLSearchParams((await posted).postData() ?? '')].sort()).toEqual([
    ['hash', hashOf(link)],
    ['password', newPassword],
    ['repeat', newPassword],
  ]);
  await expect(heading(page)).toHaveText('Password changed');
});

test('a password manager finds the account and two fields for a new password', async ({
  page,
  portal,
  inbox,
  newPerson,
}) => {
  const { username, email } = await newPerson();
  const link = await linkFor({ portal, inbox }, email);
  await page.goto(link);
  const form = changeForm(page);
  await expect(form.username).toHaveValue(username);
  await expect(form.username).toHaveAttribute('autocomplete', 'username');
  await expect(form.username).toHaveAttribute('type', 'text');
  for (const field of [form.password, form.repeat]) {
    await expect(field).toHaveAttribute('autocomplete', 'new-password');
    await expect(field).toHaveAttribute('type', 'password');
  }
  await expect(form.password).toHaveAttribute('name', 'password');
  await expect(form.repeat).toHaveAttribute('name', 'repeat');
  await expect(form.hash).toHaveValue(hashOf(link));
  // Nobody can see, reach or change the name.
  await expect(form.username).toHaveAttribute('tabindex', '-1');
  await expect(form.username).toHaveAttribute('aria-hidden', 'true');
  await expect(form.username).not.toBeEditable();
  await expect(page.getByRole('textbox', { name: username })).toHaveCount(0);
});

test('autofill without a key press enables the button', async ({ page, portal, inbox, newPerson }) => {
  const { email } = await newPerson();
  await page.goto(await linkFor({ portal, inbox }, email));
  const { button } = changeForm(page);
  await expect(button).toBeDisabled();
  await page.evaluate((secret) => {
    for (const id of ['password', 'repeat']) {
      const input = document.getElementById(id) as HTMLInputElement;
      input.value = secret;
      for (const type of ['input', 'change']) input.dispatchEvent(new Event(type, { bubbles: true }));
    }
  }, newPassword);
  await button.click();
  await expect(heading(page)).toHaveText('Password changed');
});

test('the rules are ticked off while typing, and the button is enabled once all are met', async ({ page }) => {
  await page.goto('/portal/forgottenChange?hash=abc');
  const form = changeForm(page);
  const done = page.getByRole('main').getByText(/\(done\)\.$/);
  await expect(form.button).toBeDisabled();
  for (const [typed, strength, met] of [
    ['abc', 'Weak', 0],
    ['Ab1', 'Fair', 1],
    ['Ab1!', 'Fair', 1],
    ['Harbour-', 'Fair', 2],
    ['Harbour-7', 'Good', 3],
    ['Harbour-Lantern-77', 'Strong', 3],
  ] as const) {
    await form.password.fill(typed);
    await expect(page.getByText(`Strength: ${strength}`), typed).toBeVisible();
    await expect(done, typed).toHaveCount(met);
    await expect(form.button).toBeDisabled();
  }
  await form.repeat.fill('Harbour-Lantern-7');
  await form.repeat.blur();
  await expect(page.getByText('The two passwords aren’t the same.')).toBeVisible();
  await form.repeat.fill('Harbour-Lantern-77');
  await expect(page.getByText('The two passwords aren’t the same.')).toHaveCount(0);
  await expect(done).toHaveCount(4);
  await expect(form.button).toBeEnabled();
  await form.password.fill('');
  await expect(page.getByText(/^Strength:/)).toHaveCount(0);
  await expect(done).toHaveCount(0);
  await expect(form.button).toBeDisabled();
});

test('no error is shown before both fields were touched', async ({ page }) => {
  await page.goto('/portal/forgottenChange?hash=abc');
  const form = changeForm(page);
  const errors = page.getByRole('main').locator('.error');
  await form.password.fill('abc');
  await form.password.blur();
  await expect(form.password).toHaveAttribute('aria-invalid', 'false');
  await expect(errors).toHaveCount(0);
  await form.repeat.fill('abd');
  await expect(errors).toHaveCount(0);
  await form.repeat.blur();
  await expect(errors).toHaveText([
    'Use at least 7 characters.',
    texts['password-validation-common'],
    texts['password-validation-weak'],
    texts['password-validation-match'],
  ]);
  await expect(form.password).toHaveAttribute('aria-invalid', 'true');
  await expect(form.repeat).toHaveAttribute('aria-invalid', 'true');
  await form.fill(newPassword);
  await expect(errors).toHaveCount(0);
  await expect(form.password).toHaveAttribute('aria-invalid', 'false');
});

test('a password may be pasted', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto('/portal/forgottenChange?hash=abc');
  const form = changeForm(page);
  await page.evaluate((text) => navigator.clipboard.writeText(text), newPassword);
  for (const field of [form.password, form.repeat]) {
    await field.focus();
    await page.keyboard.press('ControlOrMeta+v');
    await expect(field).toHaveValue(newPassword);
  }
  await expect(form.button).toBeEnabled();
});

test('Back after the change leads to no form that can be resubmitted', async ({
  page,
  portal,
  inbox,
  newPerson,
  javaScriptEnabled,
}) => {
  const { email } = await newPerson();
  const link = await linkFor({ portal, inbox }, email);
  await page.goto('/portal/login');
  await page.goto(link);
  await changeForm(page).send(newPassword);
  await expect(heading(page)).toHaveText('Password changed');
  await page.goBack();
  if (javaScriptEnabled) {
    await expect(changeForm(page).hash).toHaveValue('');
    await expect(page.getByRole('note')).toContainText(texts['change-no-link-title']);
  } else await expect(heading(page)).toHaveText('Password changed');
});

test('PR-06 a link that somebody sends names nobody else’s account, whoever was refused here', async ({
  page,
  portal,
  inbox,
  newPerson,
}) => {
  const [alice, mallory] = [await newPerson(), await newPerson()];
  const hash = hashOf(await linkFor({ portal, inbox }, mallory.email));
  for (const link of [`/portal/#/forgottenChange?hash=${hash}`, `/portal/forgottenChange?hash=${hash}`]) {
    await page.goto('/portal/login');
    await signInForm(page).send(alice.username, 'wrong');
    await page.waitForURL(/loginfail/);
    await page.goto('about:blank');
    await page.goto(link);
    await expect(changeForm(page).hash).toHaveValue(hash);
    await expect(page.getByText(texts['page-account'].replace('{account}', alice.username))).toHaveCount(0);
    await page.reload();
    await expect(changeForm(page).hash).toHaveValue(hash);
    await expect(page.getByText(texts['page-account'].replace('{account}', alice.username))).toHaveCount(0);
  }
});
