import type { Page } from '@playwright/test';
import { expect, test } from './test.ts';
import { textsOf } from './texts.ts';

const texts = textsOf('en');

// What this version's server does not answer yet is told honestly, and the page stays of use.

const both = { tag: '@without-script' };
const heading = (page: Page) => page.getByRole('heading', { level: 1 });

async function expectHonestPage(page: Page): Promise<void> {
  await expect(heading(page)).toHaveText('Not available right now');
  await expect(page.getByText('The system is temporarily unavailable. Nothing was changed.')).toBeVisible();
  await page.getByRole('link', { name: 'Return to sign-in' }).click();
  await expect(heading(page)).toHaveText('Sign in');
}

test.beforeEach(({ watch }) => watch.expect(/status of 503/));

test('single sign-on says that it is not available, from both doors', both, async ({ page }) => {
  await page.goto('/portal/login');
  await page.getByRole('button', { name: 'Sign in with SSO' }).click();
  await expectHonestPage(page);
  await page.goto('/portal/singleSignOn');
  await page.getByLabel(texts.email).fill('ada@acme.test');
  await page.getByRole('button', { name: 'Continue' }).click();
  await expectHonestPage(page);
});
