import type { Locator, Page } from '@playwright/test';
import { appCode, wrongAppCodes } from '../support/authenticator-app.ts';
import { axeScript, documentFaults, expectAccessible, forcedColourFaults } from './accessibility-faults.ts';
import { cutTexts, largeText, setReaderStyle, textSpacing } from './cut-texts.ts';
import { codeForm, expectSignedIn, heading, keepHere, keyToRegister, signInForm, signOutButton } from './forms.ts';
import { expect, password, test } from './test.ts';
import { texts } from './texts.ts';

/** A state that only a visitor's action leads to is for everyone too; every-screen.spec.ts has the others. */
async function expectForEveryone(page: Page): Promise<void> {
  await expectAccessible(page);
  expect(await documentFaults(page)).toEqual([]);
  expect(await forcedColourFaults(page)).toEqual([]);
  await page.setViewportSize({ width: 320, height: 640 });
  for (const style of [textSpacing, largeText, '']) {
    await setReaderStyle(page, style);
    expect(await cutTexts(page), style).toEqual([]);
  }
}

test.describe('axe finds nothing', () => {
  test.beforeEach(async ({ page, watch }) => {
    watch.expect(/status of (?:404|503)/, /Two-factor code not/, /general-error/);
    await page.addInitScript({ path: axeScript });
  });

  test('on a form with errors', async ({ page }) => {
    await page.goto('/portal/forgottenChange');
    await page.getByLabel('New password', { exact: true }).fill('abc');
    await page.getByLabel('Repeat new password').fill('abd');
    await page.getByLabel('Repeat new password').blur();
    await expect(page.getByText('The two passwords aren’t the same.')).toBeVisible();
    await expectForEveryone(page);
  });

  test('on a wrong code, a code being checked, and a failed check', async ({ page, newPersonWithApp }) => {
    const { username, key } = await newPersonWithApp();
    await page.goto('/portal/login');
    await signInForm(page).send(username, password);
    const form = codeForm(page);
    const [wrong = ''] = wrongAppCodes(key, 1);
    await form.sendWrong(wrong);
    await expectForEveryone(page);
    const { promise: isLookedAt, resolve: letGo } = Promise.withResolvers<void>();
    await page.route('**/verify', async (route) => {
      await isLookedAt;
      await route.fulfill({ status: 503, headers: { 'retry-after': '20' } });
    });
    await form.send(wrong);
    await expect(page.getByRole('status')).toHaveText('Checking your code…');
    await expectAccessible(page, /^page-has-heading-one:/);
    letGo();
    await expect(page.getByRole('alert')).toContainText(texts['problem-503-text']);
    await expectAccessible(page);
  });

  test('on a QR code that fails to load', async ({ page, context, stages }) => {
    await stages.enter(context, 'new app');
    await page.route('**/two-factor-authentication/registration', (route) => route.fulfill({ status: 503 }));
    await page.goto('/portal/twoFactorRegistration');
    await expect(page.getByRole('alert')).toContainText(texts['registration-unavailable-title']);
    await expectForEveryone(page);
  });

  test('while the veil is up', async ({ page }) => {
    await page.goto('/portal/login');
    await keepHere(page);
    await signInForm(page).send('ada', password);
    await expect(page.getByRole('status')).toHaveText('Signing you in…');
    // The heading is hidden with everything else that is inactive now.
    await expectAccessible(page, /^page-has-heading-one:/);
  });
});

/** Whether the focused element shows its focus. */
const focusIsSeen = (page: Page) =>
  page.evaluate(() => {
    const element = document.activeElement as Element;
    const control = element.closest('.control') ?? element;
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    return (outlineStyle !== 'none' && outlineWidth !== '0px') || getComputedStyle(control).boxShadow !== 'none';
  });

/** Presses Tab until something has the focus, up to a limit; each stop must be visible. */
async function tabTo(page: Page, stop: Locator, most: number): Promise<void> {
  // A page that is still loading would swallow the keys.
  await expect(stop).toBeVisible();
  for (let stops = 0; stops < most; stops += 1) {
    await page.keyboard.press('Tab');
    expect(await focusIsSeen(page)).toBe(true);
    if (await stop.evaluate((element) => element === document.activeElement)) return;
  }
  await expect(stop).toBeFocused();
}

test('registering an app and signing in with it with only the keyboard', async ({ page, newPerson }) => {
  const { username } = await newPerson({ customers: ['apps'] });
  await page.goto('/portal/login');
  const form = signInForm(page);
  await expect(form.username).toBeFocused();
  await page.keyboard.type(username);
  await page.keyboard.press('Tab');
  await page.keyboard.type(password);
  await page.keyboard.press('Enter');
  const code = codeForm(page);
  await tabTo(page, page.getByRole('button', { name: 'Copy key' }), 3);
  const key = await keyToRegister(page);
  await tabTo(page, code.box(1), 2);
  // A typo is corrected with Backspace and the arrows.
  const right = appCode(key);
  await page.keyboard.type(right.slice(0, 4));
  await page.keyboard.press('Backspace');
  await page.keyboard.press('ArrowLeft');
  await expect(code.box(3)).toBeFocused();
  await page.keyboard.press('End');
  await expect(code.box(6)).toBeFocused();
  await page.keyboard.press('Home');
  await expect(code.box(1)).toBeFocused();
  await page.keyboard.type(right);
  await tabTo(page, page.getByRole('link', { name: 'Continue' }), 6);
  await page.keyboard.press('Enter');
  await expectSignedIn(page, username);
  await tabTo(page, signOutButton(page), 4);
  await page.keyboard.press('Enter');

  await expect(form.username).toBeFocused();
  await page.keyboard.type(username);
  await page.keyboard.press('Tab');
  await page.keyboard.type(password);
  await page.keyboard.press('Enter');
  await expect(code.box(1)).toBeFocused();
  expect(await focusIsSeen(page)).toBe(true);
  await tabTo(page, code.remember, 7);
  await page.keyboard.press('Space');
  await expect(code.remember).toBeChecked();
  await tabTo(page, page.getByRole('link', { name: 'Use a recovery code' }), 3);
  await tabTo(page, page.getByRole('link', { name: 'Not you? Use another account' }), 1);
  for (let stops = 0; stops < 10; stops += 1) {
    if (await code.box(1).evaluate((element) => element === document.activeElement)) break;
    await page.keyboard.press('Shift+Tab');
  }
  await page.keyboard.type(appCode(key, 30));
  await expectSignedIn(page, username);
});

test('the focus starts where the work starts', async ({ page, context, stages }) => {
  for (const [address, label, stage] of [
    ['/portal/login', texts['login-username']],
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
});

test('on a screen change the focus goes to the first field, else to the heading', async ({ page }) => {
  await page.goto('/portal/login');
  await page.getByRole('link', { name: texts['login-forgotten'] }).click();
  await expect(page.getByLabel(texts.email)).toBeFocused();
  await page.getByRole('link', { name: texts['return-to-login'] }).click();
  await expect(signInForm(page).username).toBeFocused();
  await page.getByRole('link', { name: texts['login-forgotten'] }).click();
  await page.getByLabel(texts.email).fill('ada@acme.test');
  await page.getByRole('button', { name: texts['forgotten-button'] }).click();
  await expect(heading(page)).toHaveText(texts['email-info-title']);
  await expect(heading(page)).toBeFocused();
});
