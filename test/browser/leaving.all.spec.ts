import { chromium, type Page } from '@playwright/test';
import type { ServerPage } from '#contract/page.ts';
import { browserOptions } from './browser-options.ts';
import { codeForm } from './code-form.ts';
import { fadeOf } from './fade-of.ts';
import { holdRequests } from './held-requests.ts';
import { showServerPage } from './server-pages.ts';
import { keepHere, signIn, signInForm } from './sign-in-form.ts';
import { expect, password, test } from './test.ts';
import { textsOf } from './texts.ts';

const texts = textsOf('en');

const heading = (page: Page) => page.getByRole('heading', { level: 1 });
const veil = (page: Page) => page.locator('.veil');

/** Stops the page's clock before the page loads, so that the test controls time. */
async function holdTime(page: Page): Promise<void> {
  await page.clock.install({ time: 0 });
  await page.clock.pauseAt(1000);
}

test('a link fades the screen for 300 ms before the next one shows', async ({ page }) => {
  await holdTime(page);
  await page.goto('/portal/login');
  await expect(page.getByRole('button', { name: 'Show password' })).toBeVisible();
  await page.getByRole('link', { name: 'Forgot password?' }).click();
  await expect(page.getByRole('main')).toHaveAttribute('aria-busy', 'true');
  await page.clock.runFor(299);
  // The animation uses a clock that nobody stops: on a busy machine the screen may be hidden by now, yet it is there.
  await expect(page.locator('h1')).toHaveText('Sign in');
  await expect(page).toHaveURL('/portal/login');
  await page.clock.runFor(1);
  await expect(heading(page)).toHaveText('Reset your password');
  await expect(page.getByRole('main')).toHaveAttribute('aria-busy', 'false');
});

test('the fade takes 300 ms, and then the veil shows with its text', async ({ page }) => {
  await page.goto('/portal/login');
  await keepHere(page);
  await signInForm(page).send('ada', password);
  await expect(page.getByRole('status')).toHaveText('Signing you in…');
  const content = page.locator('.content');
  expect(await content.evaluate((element) => getComputedStyle(element).transitionDuration)).toMatch(/^0\.3s/);
  await expect(content).toHaveCSS('opacity', '0');
  await expect(content).toHaveAttribute('inert', '');
  expect(await veil(page).evaluate((element) => getComputedStyle(element).animationDelay)).toBe('0.3s');
  await expect(veil(page)).toHaveCSS('opacity', '1');
});

test('with reduced motion there is no fade and no wait', async ({ page }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await holdTime(page);
  await page.goto('/portal/login');
  await expect(page.getByRole('button', { name: 'Show password' })).toBeVisible();
  await page.getByRole('link', { name: 'Forgot password?' }).click();
  await expect(heading(page)).toHaveText('Reset your password');
});

for (const [name, take] of [
  ['a right code', async (page, code) => await codeForm(page).send(code)],
  ['cancel', async (page) => await page.getByRole('link', { name: texts.cancel }).click()],
] as [string, (page: Page, code: string) => Promise<void>][]) {
  test(`an answer that is there before the fade is over leads on at once: ${name}`, async ({
    page,
    inbox,
    newPerson,
  }) => {
    const { username, email } = await newPerson({ customers: ['mails'] });
    await holdTime(page);
    await page.goto('/portal/login');
    await signInForm(page).send(username, password);
    await expect(codeForm(page).field).toBeVisible();
    const { code } = await inbox.take(email, 'signInCode');
    await take(page, code);
    await expect(page).toHaveURL(/\/portal\/(?:portal\.html|login)$/);
  });
}

test('a sign-in that hangs can be cancelled with Escape', async ({ page }) => {
  await page.goto('/portal/login');
  await keepHere(page);
  await signInForm(page).send('ada', password);
  await expect(veil(page)).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(veil(page)).toHaveCount(0);
  await expect(signInForm(page).button).toBeEnabled();
  await expect(signInForm(page).username).toHaveValue('ada');
});

test('a page restored by the back-forward cache is fresh', async ({ page }) => {
  await page.goto('/portal/login');
  await keepHere(page);
  await signInForm(page).send('ada', password);
  await expect(veil(page)).toBeVisible();
  await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })));
  await expect(veil(page)).toHaveCount(0);
  await expect(page.locator('.content')).not.toHaveAttribute('inert');
  await signInForm(page).send('ada', password);
  await expect(page).toHaveURL('/portal/portal.html');
});

test('a signed-in page restored by the back-forward cache is asked for again', async ({ page }) => {
  await signIn(page, 'ada', password);
  await page.context().clearCookies();
  // The script may not have started yet.
  await expect(async () => {
    await page.evaluate(
      () => void setTimeout(() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))),
    );
    await expect(heading(page)).toHaveText('Sign in', { timeout: 1000 });
  }).toPass();
});

test('Back from a page answered by another document leads to a working form, in a browser that caches pages', async ({
  portal,
}) => {
  const { launchOptions } = browserOptions;
  const browser = await chromium.launch({ ...launchOptions, ignoreDefaultArgs: ['--disable-back-forward-cache'] });
  try {
    const page = await browser.newPage({ baseURL: portal.origin });
    await page.goto('/portal/login');
    await page.getByRole('button', { name: 'Sign in with SSO' }).click();
    await expect(heading(page)).toHaveText(texts['sso-title']);
    // Playwright does not notice a restored page, so nothing waits for it here.
    page.goBack().catch(() => {});
    await expect(heading(page)).toHaveText('Sign in');
    await expect(veil(page)).toHaveCount(0);
    await signInForm(page).send('ada', password);
    await expect(page).toHaveURL('/portal/portal.html');
  } finally {
    await browser.close();
  }
});

for (const [name, at] of [
  ['Support', '/portal/login'],
  ['Legal notice', '/portal/login'],
  ['One front door for all your software', '/portal/login'],
  ['Contact support', '/portal/emailInfo'],
] as const) {
  test(`a link out of the portal fades too: ${name}`, async ({ page, portal }) => {
    await page.route('**/out-of-the-portal', (route) =>
      route.fulfill({ contentType: 'text/html', body: '<p>Elsewhere' }),
    );
    await holdTime(page);
    await page.goto(at);
    await expect(page.getByRole('combobox', { name: 'Language' })).toBeEnabled();
    const link = page.getByRole('link', { name, exact: true });
    await link.evaluate((element, href) => element.setAttribute('href', href), `${portal.origin}/out-of-the-portal`);
    await link.click();
    await expect(page.getByRole('main')).toHaveAttribute('aria-busy', 'true');
    await page.clock.runFor(299);
    await expect(page).toHaveURL(at);
    await page.clock.runFor(1);
    await expect(page.getByText('Elsewhere')).toBeVisible();
  });
}

for (const [name, role, serverPage] of [
  [texts['your-account'], 'link', { name: 'signedIn', username: 'ada', email: 'ada@acme.test', customers: [] }],
  [texts['try-again'], 'link', { name: 'problem', status: 503, retryAfterSeconds: null, again: 'open' }],
  [
    'Go to Entra ID',
    'button',
    { name: 'leaving', isSignOut: false, url: '/portal/nowhere', provider: 'Entra ID', fields: {} },
  ],
] as [string, 'link' | 'button', ServerPage][]) {
  test(`so does what leads to another document of a server's page: ${name}`, async ({ page, context }) => {
    const at = '/portal/loginfail/default';
    await showServerPage(context, at, serverPage);
    await page.addInitScript(() => {
      // The form to a provider is sent by the script, too.
      HTMLFormElement.prototype.submit = () => {};
    });
    await page.goto(at);
    await expect(page.getByRole('combobox', { name: 'Language' })).toBeEnabled();
    const letGo = await holdRequests(page, '**/portal/**');
    const fade = fadeOf(page);
    await page.getByRole(role, { name, exact: true }).click({ noWaitAfter: true });
    await fade;
    letGo();
  });
}
