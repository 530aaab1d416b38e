import type { Page } from '@playwright/test';
import { appCode } from './authenticator-app.ts';
import { codeForm, keyToRegister } from './code-form.ts';
import { holdRequests } from './held-requests.ts';
import { signInForm } from './sign-in-form.ts';
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

test('without JavaScript a refused code leads to a page that names the next person', {
  tag: '@without-script-only',
}, async ({ page, context, watch, newPerson }) => {
  watch.expect(/Two-factor code not verified: wrong/);
  const [alice, beth] = [await newPerson(app), await newPerson(app)];
  await signInToRegister(page, alice.username);
  const key = await keyToRegister(page);
  await signInToRegister(await context.newPage(), beth.username);
  await codeForm(page, false).send(appCode(key));
  await expect(page.getByText(accountLine(beth.username))).toBeVisible();
});
