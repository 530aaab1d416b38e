import { sendAgainFromHistory } from './send-again-from-history.ts';
import { expectSignedIn, signInForm, signOutButton } from './sign-in-form.ts';
import { expect, password, test } from './test.ts';

// The browser keeps a post that nobody answered in the history of its tab, and offers to send it again.

test.beforeEach(({ watch }) => watch.expect(/performlogin/i, /./));

test('SE-15: the next person finds a sign-in that failed in the history, and sending it again signs nobody in', {
  tag: '@without-script',
}, async ({ page, newPerson }) => {
  const { username } = await newPerson();
  await page.goto('/portal/login');
  await page.route('**/performlogin', (route) => route.abort('connectionreset'));
  await signInForm(page).send(username, password);
  await page.waitForURL('chrome-error://**');
  await page.unroute('**/performlogin');
  await page.goto('/portal/login');
  await signInForm(page).send(username, password);
  await expectSignedIn(page, username);
  await signOutButton(page).click();
  await expect(signInForm(page).button).toBeVisible();

  // The sign-in page also asks for passkeys' options by itself.
  const sentAgain = page.waitForRequest(/\/performlogin$/);
  await sendAgainFromHistory(page, 'performlogin');
  expect((await sentAgain).postData()).toContain(`username=${username}`);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Sign in');
  await expect(page.getByRole('alert').or(page.locator('.alert'))).toContainText('Sign in again');
  await page.goto('/portal/portal.html');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Sign in');
});
