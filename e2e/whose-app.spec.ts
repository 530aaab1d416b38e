import type { Page } from '@playwright/test';
import { appCode } from './authenticator-app.ts';
import { codeForm, keyToRegister } from './code-form.ts';
import { holdRequests } from './held-requests.ts';
import { signIn, signInForm } from './sign-in-form.ts';
import { expect, password, test } from './test.ts';
import { textsOf } from './texts.ts';

const texts = textsOf('en');
const app = { customers: ['apps'] };
const accountLine = (name: string) => texts['page-account'].replace('{account}', name);

async function signInToRegister(page: Page, username: string): Promise<void> {
  await page.goto('/portal/login');
  await signInForm(page).send(username, password);
  await page.waitForURL(/twoFactorRegistration/);
}

test('an app that one person sets up is never the next one’s, and the page says whose it is', async ({
  page,
  context,
  newPerson,
}) => {
  const [alice, beth] = [await newPerson(app), await newPerson(app)];
  const letGo = await holdRequests(page, '**/two-factor-authentication/registration');
  await signInToRegister(page, alice.username);
  await expect(page.getByText(accountLine(alice.username))).toBeVisible();
  const second = await context.newPage();
  await signInToRegister(second, beth.username);
  letGo();
  await expect(page.getByText(texts['registration-unavailable-title'])).toBeVisible();
  await page.reload();
  await expect(page.getByText(accountLine(beth.username))).toBeVisible();
});

test('a code for one person’s app is not tried on the next one’s', { tag: '@without-script' }, async ({
  page,
  context,
  watch,
  javaScriptEnabled,
  newPerson,
}) => {
  watch.expect(/Two-factor code not verified: signInExpired/);
  watch.expect(/401/);
  const [alice, beth] = [await newPerson(app), await newPerson(app)];
  await signInToRegister(page, alice.username);
  const key = await keyToRegister(page);
  const second = await context.newPage();
  await signInToRegister(second, beth.username);
  await codeForm(page, javaScriptEnabled).send(appCode(key));
  await expect(page.getByText(texts['notice-signInExpired-text'])).toBeVisible();
  await second.reload();
  await expect(second.getByText(accountLine(beth.username))).toBeVisible();
});

test('a code leads nowhere in the session of somebody who has signed in in another tab', {
  tag: '@without-script',
}, async ({ page, context, watch, javaScriptEnabled, newPerson }) => {
  watch.expect(/Two-factor code not verified: signInExpired/);
  watch.expect(/401/);
  const [alice, pat] = [await newPerson(app), await newPerson()];
  await signInToRegister(page, alice.username);
  const key = await keyToRegister(page);
  const second = await context.newPage();
  await signIn(second, pat.username, password);
  await codeForm(page, javaScriptEnabled).send(appCode(key));
  if (javaScriptEnabled) await page.getByRole('link', { name: texts['sign-in-again'] }).click();
  await expect(page.getByText(texts['sign-out-other-text'].replace('{account}', pat.username))).toBeVisible();
  await expect(page.getByRole('link', { name: pat.username })).toBeVisible();
  await page.getByRole('button', { name: texts['sign-out-button'] }).click();
  await expect(signInForm(page).username).toHaveValue('');
  // With JavaScript the other tab notices by itself.
  if (!javaScriptEnabled) await second.reload();
  await expect(signInForm(second).username).toBeVisible();
});
