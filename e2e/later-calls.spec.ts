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

test.beforeEach(({ watch }) =>
  watch.expect(/status of 503/, /general-error-something-went-wrong/, /Two-factor code not/),
);

test('asking for a reset says that it is not available, with the form alive again', async ({ page }) => {
  const logged = page.waitForEvent('console', (message) => message.text() === 'general-error-something-went-wrong');
  await page.goto('/portal/forgotten');
  await page.getByLabel(texts.email).fill('ada@acme.test');
  const send = page.getByRole('button', { name: 'Send link' });
  await send.click();
  await logged;
  const alert = page.getByRole('alert');
  await expect(alert).toContainText('This isn’t available right now.');
  await expect(alert).toBeFocused();
  await expect(send).toBeEnabled();
  await expect(page.getByLabel(texts.email)).toHaveValue('ada@acme.test');
  await send.click();
  await expect(alert).toBeFocused();
});

test('asking for a reset asks for an e-mail address first', async ({ page }) => {
  await page.goto('/portal/forgotten');
  const [field, send] = [page.getByLabel(texts.email), page.getByRole('button', { name: 'Send link' })];
  await expect(send).toBeDisabled();
  for (const wrong of ['ada', 'ada@', '@acme.test', 'a da@acme.test']) {
    await field.fill(wrong);
    await expect(send).toBeDisabled();
  }
  await field.blur();
  await expect(page.getByText('Enter the full address, such as name@company.com.')).toBeVisible();
  await field.fill('ada@acme.test');
  await expect(send).toBeEnabled();
});

test('without script asking for a reset says so on a page of its own', {
  tag: '@without-script-only',
}, async ({ page }) => {
  await page.goto('/portal/forgotten');
  await page.getByLabel(texts.email).fill('ada@acme.test');
  await page.getByRole('button', { name: 'Send link' }).click();
  await expectHonestPage(page);
});

test('changing a password says that it is not available', both, async ({ page }) => {
  await page.goto('/portal/forgottenChange?hash=abc');
  await page.getByLabel('New password', { exact: true }).fill('Lantern-Harbour-43');
  await page.getByLabel('Repeat new password').fill('Lantern-Harbour-43');
  await page.getByRole('button', { name: 'Change password' }).click();
  await expectHonestPage(page);
});

test('the password screen ticks off its rules and lights its button when all are met', async ({ page }) => {
  await page.goto('/portal/forgottenChange?hash=abc');
  const [password, repeat] = [
    page.getByLabel('New password', { exact: true }),
    page.getByLabel('Repeat new password', { exact: true }),
  ];
  const button = page.getByRole('button', { name: 'Change password' });
  const done = page.getByRole('main').getByText(/^Done:/);
  await expect(button).toBeDisabled();
  await password.fill('abc');
  await expect(page.getByText('Strength: Weak')).toBeVisible();
  await expect(done).toHaveCount(0);
  await password.fill('Lantern-Harbour-43');
  await expect(page.getByText('Strength: Strong')).toBeVisible();
  await expect(done).toHaveCount(3);
  await expect(button).toBeDisabled();
  await repeat.fill('Lantern-Harbour-4');
  await repeat.blur();
  await expect(page.getByText('The two passwords aren’t the same.')).toBeVisible();
  await repeat.fill('Lantern-Harbour-43');
  await expect(page.getByText('The two passwords aren’t the same.')).toHaveCount(0);
  await expect(done).toHaveCount(4);
  await expect(button).toBeEnabled();
});

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
