import { axeScript, expectAccessible } from './axe.ts';
import { everyScreen, withQuery } from './every-screen.ts';
import { changeForm, linkFor, newPassword } from './reset-forms.ts';
import { expectSignedIn, keepHere, signIn, signInForm } from './sign-in-form.ts';
import { expect, password, test } from './test.ts';

test.describe('axe finds nothing', () => {
  test.beforeEach(async ({ page, watch }) => {
    watch.expect(/status of (?:404|503)/, /Two-factor code not/, /general-error/);
    await page.addInitScript({ path: axeScript });
  });

  for (const { address } of everyScreen) {
    test(`on ${address}`, async ({ page }) => {
      await page.goto(address);
      await expect(page.getByRole('main')).toHaveAttribute('aria-busy', 'false');
      await expect(page.locator('.qr[aria-busy=true]')).toHaveCount(0);
      await expectAccessible(page);
    });
  }

  test('on the page of who is signed in', async ({ page }) => {
    await signIn(page, 'ada', password);
    await expectAccessible(page);
  });

  test('on a failure with a reference', async ({ page }) => {
    await page.goto('/portal/login');
    await signInForm(page).send('nobody', 'wrong');
    await expect(page.getByText('Reference')).toBeVisible();
    await expectAccessible(page);
  });

  test('on a form filled in wrong', async ({ page }) => {
    await page.goto('/portal/forgottenChange');
    await page.getByLabel('New password', { exact: true }).fill('abc');
    await page.getByLabel('Repeat new password').fill('abd');
    await page.getByLabel('Repeat new password').blur();
    await expect(page.getByText('The two passwords aren’t the same.')).toBeVisible();
    await expectAccessible(page);
  });

  test('on the form of a link, on the refusal of a password and on the form again', async ({
    page,
    portal,
    inbox,
    newPerson,
  }) => {
    const { email } = await newPerson();
    await page.goto(await linkFor({ portal, inbox }, email));
    await expectAccessible(page);
    await changeForm(page).fill(newPassword);
    await expectAccessible(page);
    await changeForm(page).send(password);
    await expect(page.getByText('Reference')).toBeVisible();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Choose another password' }).click();
    await page.getByRole('button', { name: 'Show password' }).first().click();
    await changeForm(page).fill(newPassword);
    await expectAccessible(page);
    await changeForm(page).button.click();
    await expect(page.getByRole('heading')).toHaveText('Password changed');
    await expectAccessible(page);
  });

  test('on a wrong code', async ({ page }) => {
    await page.route('**/verify', (route) => route.fulfill({ json: false }));
    await page.goto('/portal/twoFactor');
    await page.getByLabel('Digit 1 of 6').click();
    await page.keyboard.type('123456');
    await expect(page.getByText('That code didn’t match.')).toBeVisible();
    await expectAccessible(page);
  });

  test('while the veil is up', async ({ page }) => {
    await page.goto('/portal/login');
    await keepHere(page);
    await signInForm(page).send('ada', password);
    await expect(page.getByRole('status')).toHaveText('Signing you in…');
    // The heading is hidden with the rest of what cannot be used now.
    await expectAccessible(page, /^page-has-heading-one:/);
  });

  test('on a problem page', async ({ page }) => {
    await page.goto('/portal/login');
    await page.getByRole('button', { name: 'Sign in with SSO' }).click();
    await expect(page.getByRole('heading')).toHaveText('Not available right now');
    await expectAccessible(page);
  });
});

test('a person signs in and out with the keyboard alone', async ({ page }) => {
  const focusIsSeen = () =>
    page.evaluate(() => {
      const element = document.activeElement as Element;
      const control = element.closest('.control') ?? element;
      const { outlineStyle, outlineWidth } = getComputedStyle(element);
      return (outlineStyle !== 'none' && outlineWidth !== '0px') || getComputedStyle(control).boxShadow !== 'none';
    });
  await page.goto('/portal/login');
  const form = signInForm(page);
  await expect(form.username).toBeFocused();
  await page.keyboard.type('ada');
  await page.keyboard.press('Tab');
  await expect(form.password).toBeFocused();
  await page.keyboard.type(password);
  for (const stop of [
    page.getByRole('button', { name: 'Show password' }),
    page.getByRole('link', { name: 'Forgot password?' }),
    form.button,
  ]) {
    expect(await focusIsSeen()).toBe(true);
    await page.keyboard.press('Tab');
    await expect(stop).toBeFocused();
  }
  expect(await focusIsSeen()).toBe(true);
  await page.keyboard.press('Enter');
  await expectSignedIn(page, 'ada');
  const signOut = page.getByRole('button', { name: 'Sign out' });
  for (let stops = 0; stops < 3 && !(await signOut.evaluate((button) => button === document.activeElement)); stops += 1)
    await page.keyboard.press('Tab');
  await expect(signOut).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL('/portal/login');
});

test('at 320 px, which is 400 % zoom, no screen scrolls sideways', async ({ page, watch }) => {
  watch.expect(/status of (?:404|503)/);
  test.setTimeout(60_000);
  await page.setViewportSize({ width: 320, height: 256 });
  for (const language of ['en', 'de', 'pl']) {
    for (const { address } of everyScreen) {
      await page.goto(withQuery(address, `lang=${language}`));
      const { scrollWidth, clientWidth } = await page.evaluate(() => {
        const { scrollWidth, clientWidth } = document.documentElement;
        return { scrollWidth, clientWidth };
      });
      expect(scrollWidth, `${address} in ${language}`).toBeLessThanOrEqual(clientWidth);
    }
  }
});

test('with colours forced, fields and buttons keep an edge', async ({ page }) => {
  await page.emulateMedia({ forcedColors: 'active' });
  await page.goto('/portal/login');
  const form = signInForm(page);
  await form.fill('ada', password);
  for (const part of [form.button, page.locator('.control').first(), page.locator('.control').last()]) {
    await expect(part).toBeVisible();
    expect(await part.evaluate((element) => getComputedStyle(element).borderTopWidth)).not.toBe('0px');
  }
  await form.password.focus();
  const edge = await page
    .locator('.control')
    .last()
    .evaluate((element) => getComputedStyle(element).outlineStyle);
  expect(edge).toBe('solid');
});
