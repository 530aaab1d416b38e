import type { Page } from '@playwright/test';
import { signInForm } from './sign-in-form.ts';
import { expect, password, test } from './test.ts';

const saved = (page: Page, name: string) => page.evaluate((key) => sessionStorage.getItem(key), name);
const heading = (page: Page) => page.getByRole('heading', { level: 1 });

test('a hash that needs a sign-in is saved, and the sign-in form is shown', async ({ page }) => {
  await page.goto('/portal/#/reports/7');
  await expect(page).toHaveURL('/portal/#/login');
  await expect(heading(page)).toHaveText('Sign in');
  expect(await saved(page, 'loginHashFragment')).toBe('/reports/7');
  await signInForm(page).send('ada', password);
  await expect(page).toHaveURL('/portal/portal.html#/reports/7');
});

test('history is replaced: Back does not lead to the hash that was saved', async ({ page }) => {
  await page.goto('/portal/forgotten');
  await page.goto('/portal/#/reports/7');
  await expect(page).toHaveURL('/portal/#/login');
  await page.goBack();
  await expect(page).toHaveURL('/portal/forgotten');
});

for (const [hash, text] of [
  ['#/forgotten', 'Reset your password'],
  ['#/emailInfo', 'Check your inbox'],
  ['#/forgottenChange', 'Choose a new password'],
  ['#/forgottenChangedInfo', 'Password changed'],
  ['#/forgottenChangeFailedInfo?reason=7', 'Password not changed'],
  ['#/singleSignOn', 'Single sign‑on'],
  ['#/twoFactor', 'Enter your code'],
  ['#/twoFactor?codeSentViaEmail=true', 'Enter the code we emailed'],
  ['#/loginfailOIDC', 'Single sign‑on didn’t work'],
  ['#/loginfailSAML', 'Single sign‑on didn’t work'],
  ['#/loginFail', 'Sign‑in didn’t work'],
  ['#/loginfailIP?ipaddress=203.0.113.5', 'This network isn’t approved'],
] as const) {
  test(`a public hash is unchanged and shows its screen: ${hash}`, async ({ page }) => {
    await page.goto(`/portal/login${hash}`);
    await expect(heading(page)).toHaveText(text);
    await expect(page).toHaveTitle(`${text} · Vestibule`);
    await expect(page).toHaveURL(`/portal/login${hash}`);
    expect(await saved(page, 'loginHashFragment')).toBeNull();
  });
}

test('the first navigation from a hash drops it', async ({ page }) => {
  await page.goto('/portal/login#/forgotten');
  await page.getByRole('link', { name: 'Return to sign-in' }).click();
  await expect(page).toHaveURL('/portal/login');
  await expect(heading(page)).toHaveText('Sign in');
});

test('the old path of the network refusal redirects and keeps the address', {
  tag: '@without-script',
}, async ({ page }) => {
  await page.goto('/portal/loginfailIP?ipaddress=203.0.113.5');
  await expect(page).toHaveURL('/portal/loginfail/ip?ipaddress=203.0.113.5');
  await expect(page.getByText('Your address 203.0.113.5')).toBeVisible();
});

test('an old web-bundle address is saved, also from a hash, and used after sign-in', async ({ page }) => {
  for (const address of [
    '/portal/login?redirectURL=%2Fportal%2Fportal.html%3Fwebbundle%3D1',
    '/portal/#/login?redirectURL=%2Fportal%2Fportal.html%3Fwebbundle%3D1',
  ]) {
    await page.goto('/portal/login');
    await page.evaluate(() => sessionStorage.clear());
    await page.goto('about:blank');
    await page.goto(address);
    await expect(heading(page)).toHaveText('Sign in');
    expect(await saved(page, 'redirectOldWebbundleUrl')).toBe('/portal/portal.html?webbundle=1');
  }
  await signInForm(page).send('ada', password);
  await expect(page).toHaveURL('/portal/portal.html?webbundle=1');
});

test('a foreign web-bundle address is not saved', async ({ page }) => {
  await page.goto('/portal/login?redirectURL=https%3A%2F%2Fevil.example%2Fwebbundle');
  await expect(heading(page)).toHaveText('Sign in');
  expect(await saved(page, 'redirectOldWebbundleUrl')).toBeNull();
});

test('the redirectURL of the second factor is saved decoded', async ({ page }) => {
  await page.goto('/portal/#/twoFactor?redirectURL=%2Fportal%2Fportal.html%23%2Freports%2F7');
  await expect(heading(page)).toHaveText('Enter your code');
  expect(await saved(page, 'loginHashFragment')).toBe('/portal/portal.html#/reports/7');
});

test('a redirectURL that cannot be decoded is logged and changes nothing', async ({ page }) => {
  const warning = page.waitForEvent('console', (message) => message.text() === 'Could not parse redirectURL');
  await page.goto('/portal/#/twoFactor?redirectURL=%E0%A4%A');
  await warning;
  await expect(heading(page)).toHaveText('Enter your code');
  expect(await saved(page, 'loginHashFragment')).toBeNull();
});

test('the reset hash leaves the address bar and stays in the form', async ({ page }) => {
  await page.goto('/portal/forgottenChange?hash=s3cret-of-the-mail&lang=en');
  await expect(page).toHaveURL('/portal/forgottenChange?lang=en');
  const field = page.getByRole('main').locator('input[name=hash]');
  await expect(field).toHaveValue('s3cret-of-the-mail');
  await page.reload();
  await expect(field).toHaveValue('s3cret-of-the-mail');
  expect(await saved(page, 'passwordHashParameter')).toBe('s3cret-of-the-mail');
});

for (const path of ['/portal/', '/portal/login', '/portal/forgottenChange']) {
  test(`a reset hash in the query of ${path} is kept for the form named by a hash`, async ({ page }) => {
    await page.goto(`${path}?hash=s3cret-of-the-mail#/forgottenChange`);
    await expect(page).toHaveURL(`${path}#/forgottenChange`);
    await expect(heading(page)).toHaveText('Choose a new password');
    await expect(page.getByRole('main').locator('input[name=hash]')).toHaveValue('s3cret-of-the-mail');
    expect(await saved(page, 'passwordHashParameter')).toBe('s3cret-of-the-mail');
  });
}

for (const [address, text] of [
  ['/portal/?reason=3#/forgottenChangeFailedInfo', 'This link has expired'],
  ['/portal/login?codeSentViaEmail=true#/twoFactorRegistration', 'to finish setting up'],
  ['/portal/?ipaddress=192.0.2.1#/loginfailIP', 'Your address 192.0.2.1'],
] as const) {
  test(`the screen of a hash sees the query of the path: ${address}`, async ({ page }) => {
    await page.goto(address);
    await expect(page.getByText(text)).toBeVisible();
  });
}

test('without JavaScript the reset hash stays in the form too', { tag: '@without-script-only' }, async ({ page }) => {
  await page.goto('/portal/forgottenChange?hash=s3cret-of-the-mail');
  await expect(page.getByRole('main').locator('input[name=hash]')).toHaveValue('s3cret-of-the-mail');
});

test('?login= fills in the name, and the focus goes to the password', async ({ page }) => {
  await page.clock.install({ time: 0 });
  await page.clock.pauseAt(1000);
  await page.goto('/portal/login?login=ada%40acme.test');
  const form = signInForm(page);
  await expect(form.username).toHaveValue('ada@acme.test');
  await expect(page.getByRole('button', { name: 'Show password' })).toBeVisible();
  await page.clock.runFor(99);
  await expect(form.password).not.toBeFocused();
  await page.clock.runFor(1);
  await expect(form.password).toBeFocused();
  await page.clock.resume();
  await page.keyboard.type(password);
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL('/portal/portal.html');
});

test('the focus stays with a visitor who is already changing the name', async ({ page }) => {
  await page.clock.install({ time: 0 });
  await page.clock.pauseAt(1000);
  await page.goto('/portal/login?login=ada');
  const form = signInForm(page);
  await expect(page.getByRole('button', { name: 'Show password' })).toBeVisible();
  await form.username.focus();
  await page.clock.runFor(100);
  await page.keyboard.type('@acme.test');
  await expect(form.username).toHaveValue(/@acme\.test/);
  await expect(form.password).toHaveValue('');
});

test('?login= fills in the name without JavaScript', { tag: '@without-script-only' }, async ({ page }) => {
  await page.goto('/portal/login?login=ada');
  await expect(signInForm(page).username).toHaveValue('ada');
});

test('unavailable session storage blocks nobody', async ({ page }) => {
  await page.addInitScript(() => {
    Object.defineProperty(window, 'sessionStorage', {
      get: () => {
        throw new DOMException('refused', 'SecurityError');
      },
    });
  });
  await page.goto('/portal/#/reports/7');
  await expect(page).toHaveURL('/portal/#/login');
  await signInForm(page).send('ada', password);
  await expect(page).toHaveURL('/portal/portal.html#/reports/7');
});
