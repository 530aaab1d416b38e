import { changeCustomer } from '#server/accounts/customers.ts';
import { appCode } from './authenticator-app.ts';
import { codeForm, keyToRegister, recoveryCodes, shownKey } from './code-form.ts';
import { addCustomerTo } from './portal-accounts.ts';
import { onDatabaseOf } from './portal-database.ts';
import { expectSignedIn, signInForm, signOutButton } from './sign-in-form.ts';
import { expect, password, test } from './test.ts';
import { textsOf } from './texts.ts';

const texts = textsOf('en');
const asked = '/portal/portal.html?tab=2&filter=a%26b';

test.beforeEach(({ watch }) => watch.expect(/Two-factor code not verified: wrong/));

test('MF-12 after a change from codes by email to an app: the code by email, then the QR code, then in, at the requested page', {
  tag: '@without-script',
}, async ({ page, portal, inbox, newPerson, javaScriptEnabled }) => {
  test.setTimeout(90_000);
  const key = `tightened-${javaScriptEnabled ? 'with' : 'without'}-script`;
  await addCustomerTo(portal, key, { twoFactor: 'email' });
  const { username, email } = await newPerson({ customers: [key] });
  const place = asked + (javaScriptEnabled ? '#/reports/7' : '');
  const form = codeForm(page, javaScriptEnabled);
  const heading = page.getByRole('heading', { level: 1 });
  await page.goto('/portal/login');
  await signInForm(page).send(username, password);
  await expect(page.getByText(texts['registration-email-text'])).toBeVisible();
  await form.send((await inbox.take(email, 'signInCode')).code);
  await expectSignedIn(page, username);
  await signOutButton(page).click();
  await expect(page).toHaveURL('/portal/login');

  await onDatabaseOf(portal, (sql) => changeCustomer(sql, key, { twoFactor: 'app' }, new Date()));
  await page.goto(place);
  await signInForm(page).send(username, password);
  await expect(page.getByText(texts['twofa-email-text'])).toBeVisible();
  await expect(form.remember).toHaveCount(0);
  await page.goto('/portal/twoFactorRegistration');
  await expect(page.getByText(texts['twofa-email-text'])).toBeVisible();
  await expect(shownKey(page)).toHaveCount(0);
  await page.goBack();
  const { code } = await inbox.take(email, 'signInCode');
  await form.sendWrong(String((Number(code) + 1) % 1_000_000).padStart(6, '0'), texts['twofa-email-wrong']);
  const opened: string[] = [];
  page.on('request', (request) => request.isNavigationRequest() && opened.push(new URL(request.url()).pathname));
  await form.send(code);

  await expect(heading).toHaveText(texts['registration-title']);
  expect(opened, 'not even for a moment').not.toContain('/portal/portal.html');
  await expect(page.getByText(texts['twofa-error-try-again-with-code'])).toHaveCount(0);
  const shown = await keyToRegister(page);
  // Back and reload lead to the registration again.
  await page.goBack();
  await expect(heading).toHaveText(texts['registration-title']);
  await page.goForward();
  await page.reload();
  expect(await keyToRegister(page)).toBe(shown);
  await form.send(appCode(shown));
  await expect(recoveryCodes(page)).toHaveCount(10);
  await page.getByRole('link', { name: 'Continue' }).click();
  await expect(page).toHaveURL(place);
  await expectSignedIn(page, username);
  expect(inbox.count(email, 'signInCode')).toBe(2);
});
