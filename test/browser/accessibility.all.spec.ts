import { appCode, wrongAppCodes } from '../support/authenticator-app.ts';
import { axeScript, expectAccessible, expectForEveryone } from './accessibility-faults.ts';
import {
  changeForm,
  codeForm,
  expectSignedIn,
  forgottenForm,
  heading,
  keepHere,
  keyToRegister,
  signInForm,
  signOutButton,
  tabTo,
} from './forms.ts';
import { expect, password, test } from './test.ts';
import { texts } from './texts.ts';

// States that only a visitor's action leads to; every-screen.spec.ts has the others.

test('axe finds nothing on a form with errors, nor while the veil is up', async ({ page }) => {
  await page.addInitScript({ path: axeScript });
  await page.goto('/portal/forgottenChange?hash=of-a-mail');
  await changeForm(page).fill('abc', 'abd');
  await changeForm(page).repeat.blur();
  await expect(page.getByText(texts['password-validation-match'])).toBeVisible();
  await expectForEveryone(page);
  await page.goto('/portal/login');
  await keepHere(page);
  await signInForm(page).send('ada', password);
  await expect(page.getByRole('status')).toHaveText('Signing you in…');
  // The heading is hidden with everything else that is inactive now.
  await expectAccessible(page, /^page-has-heading-one:/);
});

test('axe finds nothing on a wrong code and a failed check', async ({ page, watch, newPersonWithApp }) => {
  watch.expect(/status of 503/, /Two-factor code not/);
  await page.addInitScript({ path: axeScript });
  const { username, key } = await newPersonWithApp();
  await page.goto('/portal/login');
  await signInForm(page).send(username, password);
  const form = codeForm(page);
  const [wrong = ''] = wrongAppCodes(key, 1);
  await form.sendWrong(wrong);
  await expectForEveryone(page);
  await page.route('**/verify', (route) => route.fulfill({ status: 503, headers: { 'retry-after': '20' } }));
  await form.send(wrong);
  await expect(page.getByRole('alert')).toContainText(texts['problem-503-text']);
  await expectAccessible(page);
});

test('registering an app and signing in with it with only the keyboard', async ({ page, newPerson }) => {
  const { username } = await newPerson({ customers: ['apps'] });
  const code = codeForm(page);
  const typePassword = async () => {
    await expect(signInForm(page).username).toBeFocused();
    await page.keyboard.type(username);
    await page.keyboard.press('Tab');
    await page.keyboard.type(password);
    await page.keyboard.press('Tab');
    await expect(signInForm(page).button).toBeFocused();
    await page.keyboard.press('Enter');
  };
  await page.goto('/portal/login');
  await typePassword();
  await tabTo(page, page.getByRole('button', { name: 'Copy key' }), 3);
  const key = await keyToRegister(page);
  await tabTo(page, code.box(1), 2);
  // A typo is corrected with Backspace and the arrows.
  const right = appCode(key);
  await page.keyboard.type(right.slice(0, 4));
  for (const [pressed, box] of [
    ['Backspace', 4],
    ['ArrowLeft', 3],
    ['End', 6],
    ['Home', 1],
  ] as const) {
    await page.keyboard.press(pressed);
    await expect(code.box(box)).toBeFocused();
  }
  await page.keyboard.type(right);
  await tabTo(page, page.getByRole('link', { name: 'Continue' }), 6);
  await page.keyboard.press('Enter');
  await expectSignedIn(page, username);
  await tabTo(page, signOutButton(page), 4);
  await page.keyboard.press('Enter');

  await typePassword();
  await expect(code.box(1)).toBeFocused();
  await tabTo(page, code.remember, 7);
  await page.keyboard.press('Space');
  await expect(code.remember).toBeChecked();
  await tabTo(page, code.box(1), 7, 'Shift+Tab');
  await page.keyboard.type(appCode(key, 30));
  await expectSignedIn(page, username);
});

test('the focus starts where the work starts', async ({ page, context, stages }) => {
  for (const [address, label, stage] of [
    ['/portal/login', texts['login-username']],
    ['/portal/login?login=ada', 'Password'],
    ['/portal/forgotten', texts.email],
    ['/portal/singleSignOn', texts.email],
    ['/portal/forgottenChange?hash=of-a-mail&reason=1', texts['change-password']],
    ['/portal/twoFactor', 'Digit 1 of 6', 'app'],
    ['/portal/twoFactor?recovery=true', texts['recovery-code'], 'app'],
    ['/portal/twoFactorRegistration?codeSentViaEmail=true', 'Digit 1 of 6', 'new email'],
  ] as const) {
    await stages.enter(context, stage);
    await page.goto(address);
    await expect(page.getByLabel(label, { exact: true })).toBeFocused();
  }
  // On a screen change it goes to the first field, else to the heading.
  await context.clearCookies();
  await page.goto('/portal/login');
  await page.getByRole('link', { name: texts['login-forgotten'] }).click();
  await expect(forgottenForm(page).email).toBeFocused();
  await forgottenForm(page).send('ada@acme.test');
  await expect(heading(page)).toHaveText(texts['email-info-title']);
  await expect(heading(page)).toBeFocused();
});
