import { chromium, type Page } from '@playwright/test';
import { browserOptions } from './browser-options.ts';
import { holdRequests, isScripted } from './disturbances.ts';
import { codeForm, heading, keepHere, signIn, signInForm } from './forms.ts';
import { expect, password, test } from './test.ts';
import { texts, textsOf } from './texts.ts';

// How the script starts, leads from screen to screen, and leaves. disturbances.spec.ts has what can go wrong with it.

const everyScript = /\/assets\/[^/]+\.js$/;
const laterScript = /\/assets\/later-screen-[^/]+\.js$/;
const veil = (page: Page) => page.locator('.veil');
const forgottenLink = (page: Page) => page.getByRole('link', { name: texts['login-forgotten'] });

/** Nothing is loaded that the visitor did not ask for. */
const neverIdle = () => Object.assign(window, { requestIdleCallback: () => 0 });

/** Stops the page's clock before the page loads, so that the test controls time. */
async function holdTime(page: Page): Promise<void> {
  await page.clock.install({ time: 0 });
  await page.clock.pauseAt(1000);
}

test('the sign-in form needs its script and texts; a second visit asks the server for the document alone', async ({
  page,
}) => {
  await page.addInitScript(neverIdle);
  const loaded = () =>
    page.evaluate(() =>
      (performance.getEntriesByType('resource') as PerformanceResourceTiming[])
        .filter(({ name, transferSize }) => name.includes('/assets/') && transferSize > 0)
        .map(({ name }) => name),
    );
  await page.goto('/portal/login');
  await isScripted(page);
  expect((await loaded()).filter((name) => name.endsWith('.js'))).toHaveLength(2);
  await page.goto('/portal/login');
  await isScripted(page);
  expect(await loaded()).toEqual([]);
});

test('without the file of texts the page that the server sent signs in; another language is another document', async ({
  page,
  watch,
}) => {
  watch.expect(/./);
  await page.route(/\/assets\/(?:en|de)-[^/]+\.js$/, (route) => route.abort());
  await page.goto('/portal/portal.html?tab=2');
  await signInForm(page).send('ada', password);
  await expect(page).toHaveURL('/portal/portal.html?tab=2');
  await page.context().clearCookies();
  await page.unroute(/\/assets\/(?:en|de)-[^/]+\.js$/);
  await page.route(/\/assets\/de-[^/]+\.js$/, (route) => route.abort());
  await page.goto('/portal/login');
  await isScripted(page);
  await page.getByLabel(texts.language).selectOption('de');
  await expect(heading(page)).toHaveText(textsOf('de')['login-title']);
  await expect(page).toHaveURL('/portal/login?lang=de');
});

test('a link pressed before the script of the other screens came shows the veil, then the screen', async ({ page }) => {
  const loads: string[] = [];
  page.on('request', (request) => request.isNavigationRequest() && loads.push(new URL(request.url()).pathname));
  await page.addInitScript(neverIdle);
  const letGo = await holdRequests(page, laterScript);
  await page.goto('/portal/login');
  await isScripted(page);
  await forgottenLink(page).click();
  await expect(page.getByRole('status')).toHaveText(texts['please-wait']);
  await expect(veil(page)).toBeVisible();
  letGo();
  await expect(heading(page)).toHaveText(texts['forgotten-title']);
  await expect(page).toHaveURL('/portal/forgotten');
  await expect(veil(page)).toHaveCount(0);
  await page.goBack();
  await expect(heading(page)).toHaveText(texts['login-title']);
  expect(loads).toEqual(['/portal/login']);
});

/** What can be pressed, and where. The script may add to it. */
const placesOfPresses = () =>
  [...document.querySelectorAll('main :is(a[href], button[type=submit], label)')]
    .filter((part) => part.checkVisibility({ visibilityProperty: true }))
    .map((part) => {
      const { left, top } = part.getBoundingClientRect();
      return `${part.textContent}: ${Math.round(left)}, ${Math.round(top)}`;
    });

const passkeyButton = (page: Page) => page.getByRole('button', { name: texts['account-passkeys-add'] }).waitFor();

for (const [address, stage, started] of [
  ['/portal/login', undefined, isScripted],
  ['/portal/twoFactor', 'app', isScripted],
  ['/portal/twoFactorRegistration', 'new app', isScripted],
  ['/portal/account/passkeys?do=enrol', 'account', passkeyButton],
] as const)
  test(`${address}: nothing moves under a finger when the script starts`, async ({ page, context, stages }) => {
    await page.setViewportSize({ width: 360, height: 800 });
    await stages.enter(context, stage);
    const letGo = await holdRequests(page, everyScript);
    await page.goto(address, { waitUntil: 'commit' });
    await expect(page.getByRole('main').getByRole('link').first()).toBeVisible();
    await page.evaluate(() => document.fonts.ready);
    const before = await page.evaluate(placesOfPresses);
    letGo();
    await started(page);
    const after = await page.evaluate(placesOfPresses);
    expect(before.filter((place) => !after.includes(place))).toEqual([]);
  });

test('a link fades the screen for 300 ms before the next one shows', async ({ page }) => {
  await holdTime(page);
  await page.goto('/portal/login');
  await expect(page.getByRole('button', { name: texts['show-password'] })).toBeVisible();
  await forgottenLink(page).click();
  await expect(page.getByRole('main')).toHaveAttribute('aria-busy', 'true');
  await page.clock.runFor(299);
  // The animation uses a clock that nobody stops: on a busy machine the screen may be hidden by now, yet it is there.
  await expect(page.locator('h1')).toHaveText(texts['login-title']);
  await expect(page).toHaveURL('/portal/login');
  await page.clock.runFor(1);
  await expect(heading(page)).toHaveText(texts['forgotten-title']);
  await expect(page.getByRole('main')).toHaveAttribute('aria-busy', 'false');
});

test('with reduced motion there is no fade and no wait', async ({ page }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await holdTime(page);
  await page.goto('/portal/login');
  await expect(page.getByRole('button', { name: texts['show-password'] })).toBeVisible();
  await forgottenLink(page).click();
  await expect(heading(page)).toHaveText(texts['forgotten-title']);
});

test('a link out of the portal fades too', async ({ page, portal }) => {
  await page.route('**/out-of-the-portal', (route) =>
    route.fulfill({ contentType: 'text/html', body: '<p>Elsewhere' }),
  );
  await holdTime(page);
  await page.goto('/portal/login');
  await isScripted(page);
  const link = page.getByRole('link', { name: texts.support, exact: true });
  await link.evaluate((element, href) => element.setAttribute('href', href), `${portal.origin}/out-of-the-portal`);
  await link.click();
  await expect(page.getByRole('main')).toHaveAttribute('aria-busy', 'true');
  await page.clock.runFor(299);
  await expect(page).toHaveURL('/portal/login');
  await page.clock.runFor(1);
  await expect(page.getByText('Elsewhere')).toBeVisible();
});

test('an answer that is there before the fade is over leads on at once', async ({ page, inbox, newPerson }) => {
  const { username, email } = await newPerson({ customers: ['mails'] });
  await holdTime(page);
  await page.goto('/portal/login');
  await signInForm(page).send(username, password);
  await expect(codeForm(page).field).toBeVisible();
  await codeForm(page).send((await inbox.take(email, 'signInCode')).code);
  await expect(page).toHaveURL('/portal/portal.html');
});

test('the fade ends with the veil and its text; Escape cancels; a page out of the back-forward cache is fresh', async ({
  page,
}) => {
  await page.goto('/portal/login');
  const content = page.locator('.content');
  for (const cancel of [
    () => page.keyboard.press('Escape'),
    () => page.evaluate(() => void dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))),
  ]) {
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

test('a signed-in page out of the back-forward cache is asked for again', async ({ page }) => {
  await signIn(page, 'ada', password);
  await page.context().clearCookies();
  // The script may not have started yet.
  await expect(async () => {
    await page.evaluate(
      () => void setTimeout(() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))),
    );
    await expect(heading(page)).toHaveText(texts['login-title'], { timeout: 1000 });
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
