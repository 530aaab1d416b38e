import type { Page } from '@playwright/test';
import { heading, signInForm } from './forms.ts';
import { expect, password, test } from './test.ts';

// What the browser makes of `arrive` (web/page-load.ts), whose own test has the table of all cases.

const saved = (page: Page, name: string) => page.evaluate((key) => sessionStorage.getItem(key), name);

test('a hash that needs a sign-in is saved, replaces the entry of the history, and is used after the sign-in', async ({
  page,
}) => {
  await page.goto('/portal/forgotten');
  await page.goto('/portal/#/reports/7');
  await expect(page).toHaveURL('/portal/#/login');
  expect(await saved(page, 'loginHashFragment')).toBe('/reports/7');
  await page.goBack();
  await expect(page).toHaveURL('/portal/forgotten');
  await page.goForward();
  await signInForm(page).send('ada', password);
  await expect(page).toHaveURL('/portal/portal.html#/reports/7');
});

test('a public hash shows its screen by its own query, until the first navigation', async ({ page }) => {
  const address = '/portal/login?ipaddress=192.0.2.1#/loginfailIP?ipaddress=203.0.113.5';
  await page.goto(address);
  await expect(heading(page)).toHaveText('This network isn’t approved');
  await expect(page.getByText('Your address 203.0.113.5')).toBeVisible();
  await expect(page).toHaveURL(address);
  expect(await saved(page, 'loginHashFragment')).toBeNull();
  await page.getByRole('link', { name: 'Return to sign-in' }).click();
  await expect(page).toHaveURL('/portal/login');
});

test('an old web-bundle address is saved and used for one sign-in, a foreign one is not', async ({ page, watch }) => {
  watch.expect(/404/);
  await page.goto('/portal/login?redirectURL=https%3A%2F%2Fevil.example%2Fwebbundle');
  await expect(heading(page)).toHaveText('Sign in');
  expect(await saved(page, 'redirectOldWebbundleUrl')).toBeNull();
  await page.goto('about:blank');
  await page.goto('/portal/#/login?redirectURL=%2Fwebbundle%2Fa');
  await expect(heading(page)).toHaveText('Sign in');
  expect(await saved(page, 'redirectOldWebbundleUrl')).toBe('/webbundle/a');
  await signInForm(page).send('ada', 'not the right one');
  await page.getByRole('link', { name: 'Return to sign-in' }).first().click();
  await signInForm(page).send('ada', password);
  await expect(page).toHaveURL('/webbundle/a');
  await page.context().clearCookies();
  await page.goto('/portal/login');
  await signInForm(page).send('ada', password);
  await expect(page).toHaveURL('/portal/portal.html');
});

test('the reset hash leaves the address bar and stays in the form', async ({ page }) => {
  await page.goto('/portal/login?hash=s3cret-of-the-mail#/forgottenChange');
  await expect(page).toHaveURL('/portal/login#/forgottenChange');
  const field = page.getByRole('main').locator('input[name=hash]');
  await expect(field).toHaveValue('s3cret-of-the-mail');
  await page.reload();
  await expect(field).toHaveValue('s3cret-of-the-mail');
  expect(await saved(page, 'passwordHashParameter')).toBe('s3cret-of-the-mail');
});

test('?login= fills in the name, and the focus goes to the password after 100 ms', async ({ page }) => {
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
});
