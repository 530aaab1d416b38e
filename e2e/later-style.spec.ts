import type { Page } from '@playwright/test';
import { signInForm } from './sign-in-form.ts';
import { expect, test } from './test.ts';
import { textsOf } from './texts.ts';

const texts = textsOf('en');

/** The style blocks of a page, and whether the browser applies them. */
const stylesOf = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('style')].map(({ textContent, sheet }) => [textContent, sheet?.cssRules.length]),
  );

test.describe('the style of screens besides the sign-in form', () => {
  test('comes with their script, before they show', async ({ page }) => {
    await page.goto('/portal/login');
    // Of the first moment of the screen, not of a later one.
    await page.evaluate(() => {
      new MutationObserver(() => {
        const links = document.querySelector('.links');
        if (links) document.documentElement.dataset.first ??= getComputedStyle(links).display;
      }).observe(document.body, { childList: true, subtree: true });
    });
    await signInForm(page).username.fill('ada');
    await page.getByRole('link', { name: texts['login-forgotten'] }).click();
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(texts['forgotten-title']);
    expect(await page.evaluate(() => document.documentElement.dataset.first)).toBe('flex');
    const put = await stylesOf(page);
    await page.goto('/portal/forgotten');
    await expect(signInForm(page).username).toHaveCount(0);
    expect(put).toEqual(await stylesOf(page));
    expect(put).toHaveLength(2);
  });

  test('is put once', async ({ page }) => {
    await page.goto('/portal/forgotten');
    await page.getByRole('link', { name: texts['return-to-login'] }).click();
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(texts['login-title']);
    await page.goBack();
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(texts['forgotten-title']);
    expect(await stylesOf(page)).toHaveLength(2);
  });

  test('comes when the script turns a document into another screen', async ({ page }) => {
    await page.goto('/portal/login#/loginfailIP?ipaddress=192.0.2.1');
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(texts['login-fail-ip-title']);
    await expect(page.locator('.fact')).toHaveCSS('display', 'flex');
  });
});

test('a field that has the focus at once does not fade in', async ({ page }) => {
  await page.addInitScript(() => {
    addEventListener('transitionrun', ({ target }) => {
      document.documentElement.dataset.ran = `${document.documentElement.dataset.ran ?? ''} ${(target as Element).className}`;
    });
  });
  await page.goto('/portal/login');
  await expect(signInForm(page).button).toBeDisabled();
  await expect(signInForm(page).username).toBeFocused();
  expect(await page.evaluate(() => document.documentElement.dataset.ran)).toBeUndefined();
});
