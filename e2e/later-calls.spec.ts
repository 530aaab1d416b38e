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

test.beforeEach(({ watch }) => watch.expect(/status of 503/, /Two-factor code not/));

test('single sign-on says that it is not available, from both doors', both, async ({ page }) => {
  await page.goto('/portal/login');
  await page.getByRole('button', { name: 'Sign in with SSO' }).click();
  await expectHonestPage(page);
  await page.goto('/portal/singleSignOn');
  await page.getByLabel(texts.email).fill('ada@acme.test');
  await page.getByRole('button', { name: 'Continue' }).click();
  await expectHonestPage(page);
});

test('a code says that it cannot be checked, with the form alive again', async ({ page }) => {
  await page.goto('/portal/twoFactor');
  await page.getByLabel('Digit 1 of 6').click();
  await page.keyboard.type('123456');
  await expect(page.getByRole('alert')).toContainText('This isn’t available right now.');
  await expect(page.getByRole('button', { name: 'Verify' })).toBeEnabled();
});

test('without script a code says so on a page of its own', { tag: '@without-script-only' }, async ({ page }) => {
  await page.goto('/portal/twoFactor');
  await page.getByLabel('Six-digit code').fill('123456');
  await page.getByRole('button', { name: 'Verify' }).click();
  await expectHonestPage(page);
});

test('a wrong code clears the boxes, and a pasted right one leads to the destination', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const sent: (string | null)[] = [];
  await page.route('**/two-factor-authentication/verify', async (route) => {
    const body = route.request().postData();
    sent.push(body);
    await route.fulfill({ status: 200, contentType: 'application/json', body: String(body === '"654321"') });
  });
  await page.goto('/portal/twoFactor?redirectURL=%2Fportal%2Flogin%3Fthere');
  await page.getByLabel('Digit 1 of 6').click();
  await page.keyboard.type('12345');
  await expect(page.getByRole('button', { name: 'Verify' })).toBeDisabled();
  await page.keyboard.type('6');
  await expect(page.getByText('That code didn’t match. Enter the one your app shows now.')).toBeVisible();
  await expect(page.getByLabel('Digit 1 of 6')).toBeFocused();
  await expect(page.getByLabel('Digit 6 of 6')).toHaveValue('');
  await page.evaluate(() => navigator.clipboard.writeText('654 321'));
  await page.keyboard.press('ControlOrMeta+v');
  await expect(page).toHaveURL('/portal/login?there');
  expect(sent).toEqual(['"123456"', '"654321"']);
});

test('registration says that its code is not available and offers to reload', async ({ page }) => {
  await page.goto('/portal/twoFactorRegistration');
  await expect(page.getByRole('alert')).toContainText('The QR code isn’t available right now');
  const asked = page.waitForRequest('**/two-factor-authentication/registration');
  await page
    .getByRole('link', { name: 'Reload' })
    .or(page.getByRole('button', { name: 'Reload' }))
    .click();
  await asked;
});

test('giving up the second factor leads to the sign-in form', both, async ({ page }) => {
  await page.goto('/portal/twoFactor');
  await page.getByRole('link', { name: 'Not you? Change user' }).click();
  await expect(page).toHaveURL('/portal/login');
  await expect(heading(page)).toHaveText('Sign in');
});
