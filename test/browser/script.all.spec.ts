import { chromium, type Page } from '@playwright/test';
import { appCode } from '../support/authenticator-app.ts';
import { browserOptions } from './browser-options.ts';
import {
  codeForm,
  heading,
  holdRequests,
  isScripted,
  keepHere,
  keyToRegister,
  recoveryCodes,
  signInForm,
} from './forms.ts';
import { expect, password, test } from './test.ts';
import { texts } from './texts.ts';

// How the script starts, leads from screen to screen, and leaves. disturbances.spec.ts has what can go wrong with it.

const veil = (page: Page) => page.locator('.veil');
const forgottenLink = (page: Page) => page.getByRole('link', { name: texts['login-forgotten'] });
const restore = (page: Page) =>
  page.evaluate(() => void dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })));

/** What can be pressed, and where. The script may add to it. */
const placesOfPresses = () =>
  [...document.querySelectorAll('main :is(a[href], button[type=submit], label)')]
    .filter((part) => part.checkVisibility({ visibilityProperty: true }))
    .map((part) => {
      const { left, top } = part.getBoundingClientRect();
      return `${part.textContent}: ${Math.round(left)}, ${Math.round(top)}`;
    });

for (const [address, stage] of [
  ['/portal/login', undefined],
  ['/portal/twoFactorRegistration', 'new app'],
] as const)
  test(`${address}: nothing moves under a finger when the script starts`, async ({ page, context, stages }) => {
    await page.setViewportSize({ width: 360, height: 800 });
    await stages.enter(context, stage);
    const letGo = await holdRequests(page, /\/assets\/[^/]+\.js$/);
    await page.goto(address, { waitUntil: 'commit' });
    await expect(page.getByRole('main').getByRole('link').first()).toBeVisible();
    await page.evaluate(() => document.fonts.ready);
    const before = await page.evaluate(placesOfPresses);
    letGo();
    await isScripted(page);
    const after = await page.evaluate(placesOfPresses);
    expect(before.filter((place) => !after.includes(place))).toEqual([]);
  });

for (const reducedMotion of ['no-preference', 'reduce'] as const)
  test(`a link fades the screen for 300 ms, unless motion is to be reduced: ${reducedMotion}`, async ({ page }) => {
    await page.emulateMedia({ reducedMotion });
    await page.clock.install({ time: 0 });
    await page.clock.pauseAt(1000);
    await page.goto('/portal/login');
    await isScripted(page);
    await forgottenLink(page).click();
    if (reducedMotion === 'no-preference') {
      await expect(page.getByRole('main')).toHaveAttribute('aria-busy', 'true');
      await page.clock.runFor(299);
      // The animation uses a clock that nobody stops: on a busy machine the screen may be hidden by now, yet it is there.
      await expect(page.locator('h1')).toHaveText(texts['login-title']);
      await page.clock.runFor(1);
    }
    await expect(heading(page)).toHaveText(texts['forgotten-title']);
    await expect(page.getByRole('main')).toHaveAttribute('aria-busy', 'false');
  });

test('the fade ends with the veil and its text; Escape cancels; a page out of the back-forward cache is fresh', async ({
  page,
}) => {
  await page.goto('/portal/login');
  const content = page.locator('.content');
  for (const cancel of [() => page.keyboard.press('Escape'), () => restore(page)]) {
    await keepHere(page);
    await signInForm(page).send('ada', password);
    await expect(page.getByRole('status')).toHaveText('Signing you in…');
    await expect(content).toHaveCSS('opacity', '0');
    await expect(content).toHaveAttribute('inert', '');
    await expect(veil(page)).toHaveCSS('opacity', '1');
    await cancel();
    await expect(veil(page)).toHaveCount(0);
    await expect(content).not.toHaveAttribute('inert');
  }
  await signInForm(page).send('ada', password);
  await expect(page).toHaveURL('/portal/portal.html');
});

test('SE-09 recovery codes that the browser kept are not shown once more after the session has ended elsewhere', async ({
  page,
  portal,
  newPerson,
}) => {
  const { username } = await newPerson({ customers: ['apps'] });
  await page.goto('/portal/login');
  await signInForm(page).send(username, password);
  await codeForm(page).send(appCode(await keyToRegister(page)));
  await expect(recoveryCodes(page)).toHaveCount(10);
  await portal.mustRun(['user', 'sign-out', username]);
  await restore(page);
  await expect(heading(page)).toHaveText(texts['login-title']);
  await expect(recoveryCodes(page)).toHaveCount(0);
});

test('Back from a page answered by another document leads to a working form, in a browser that caches pages', async ({
  portal,
}) => {
  const { launchOptions } = browserOptions;
  const browser = await chromium.launch({ ...launchOptions, ignoreDefaultArgs: ['--disable-back-forward-cache'] });
  try {
    const page = await browser.newPage({ baseURL: portal.origin });
    await page.goto('/portal/login');
    await page.getByRole('button', { name: texts['login-sso'] }).click();
    await expect(heading(page)).toHaveText(texts['sso-title']);
    // Playwright does not notice a restored page, so nothing waits for it here.
    page.goBack().catch(() => {});
    await expect(heading(page)).toHaveText(texts['login-title']);
    await expect(veil(page)).toHaveCount(0);
    await signInForm(page).send('ada', password);
    await expect(page).toHaveURL('/portal/portal.html');
  } finally {
    await browser.close();
  }
});
