import type { Page, Route } from '@playwright/test';
import { languages } from '#contract/languages.ts';
import { holdRequests } from './held-requests.ts';
import { expectSignedIn, signInForm } from './sign-in-form.ts';
import { expect, password, test } from './test.ts';
import { textsOf } from './texts.ts';

const texts = textsOf('en');
const heading = (page: Page) => page.getByRole('heading', { level: 1 });

const allTexts = new RegExp(`/assets/(?:${languages.join('|')})-[^/]+\\.js$`);
const laterScript = /\/assets\/later-screen-[^/]+\.js$/;

/** What the browser says of a script that did not come. */
const notLoaded = /ERR_FAILED|Failed to fetch dynamically imported module/;

const abort = (route: Route) => route.abort();

/** Nothing is loaded that the visitor did not ask for. */
const neverIdle = () => Object.assign(window, { requestIdleCallback: () => 0 });

/** Names the scripts that a page asks for; the hash in a file's name may have a hyphen itself. */
function scriptsOf(page: Page): string[] {
  const names: string[] = [];
  page.on('request', (request) => {
    const name = /\/assets\/(.+)-[\w-]{8}\.js$/.exec(request.url())?.[1];
    if (name) names.push(name);
  });
  return names;
}

function loadsOf(page: Page): string[] {
  const urls: string[] = [];
  page.on('request', (request) => request.isNavigationRequest() && urls.push(new URL(request.url()).pathname));
  return urls;
}

const isScripted = (page: Page) => expect(page.locator('#portal .peek').first()).toBeVisible();

test('the sign-in form needs its script and texts, any other screen one file more; the rest is loaded when idle', async ({
  page,
}) => {
  const scripts = scriptsOf(page);
  await page.addInitScript(neverIdle);
  await page.goto('/portal/login');
  await isScripted(page);
  expect(scripts.sort()).toEqual(['en', 'main']);
  await page.goto('/portal/loginfail/default');
  await isScripted(page);
  expect(scripts.slice(2).sort()).toEqual(['en', 'later-screen', 'main']);
});

test('a second visit asks the server for the document alone', async ({ page }) => {
  const asked = () =>
    page.evaluate(() =>
      (performance.getEntriesByType('resource') as PerformanceResourceTiming[])
        .filter(({ transferSize }) => transferSize > 0)
        .map(({ name }) => name),
    );
  const count = () => page.evaluate(() => performance.getEntriesByType('resource').length);
  await page.goto('/portal/login');
  // The last is what passkeys sign, which is never kept.
  await expect.poll(count).toBe(5);
  expect(await asked()).toHaveLength(5);
  await page.goto('/portal/loginfail/default');
  await expect.poll(count).toBe(3);
  expect(await asked()).toEqual([]);
});

test('without the file of texts the server’s page stays: a user signs in, after a wrong password too', async ({
  page,
  watch,
}) => {
  watch.expect(notLoaded);
  await page.route(allTexts, abort);
  await page.goto('/portal/login');
  const form = signInForm(page);
  await form.send('ada', `wrong ${Math.random()}`);
  await expect(heading(page)).toHaveText(texts['login-fail-default-title']);
  await form.send('ada', password);
  await expectSignedIn(page, 'ada');
});

test('where the file of another language does not come, it is another document', async ({ page, watch }) => {
  watch.expect(notLoaded);
  await page.route(/\/assets\/de-[^/]+\.js$/, abort);
  await page.goto('/portal/login');
  await isScripted(page);
  await page.getByLabel(texts.language).selectOption('de');
  await expect(heading(page)).toHaveText(textsOf('de')['login-title']);
  await expect(page.locator('html')).toHaveAttribute('lang', 'de');
  await expect(page).toHaveURL('/portal/login?lang=de');
});

test.describe('a link pressed before the other screens’ script came', () => {
  test.beforeEach(({ page }) => page.addInitScript(neverIdle));

  test('shows the veil, then the screen', async ({ page }) => {
    const loads = loadsOf(page);
    const letGo = await holdRequests(page, laterScript);
    await page.goto('/portal/login');
    await isScripted(page);
    await page.getByRole('link', { name: texts['login-forgotten'] }).click();
    await expect(page.getByRole('status')).toHaveText(texts['please-wait']);
    await expect(page.locator('.veil')).toBeVisible();
    await expect(page).toHaveURL('/portal/login');
    letGo();
    await expect(heading(page)).toHaveText(texts['forgotten-title']);
    await expect(page).toHaveURL('/portal/forgotten');
    await expect(page.locator('.veil')).toHaveCount(0);
    expect(loads).toEqual(['/portal/login']);
    await page.goBack();
    await expect(heading(page)).toHaveText(texts['login-title']);
    expect(loads).toEqual(['/portal/login']);
  });

  test('loads its document if the script fails, which works without', async ({ page, watch }) => {
    watch.expect(notLoaded);
    const loads = loadsOf(page);
    await page.route(laterScript, abort);
    await page.goto('/portal/login');
    await isScripted(page);
    await page.getByRole('link', { name: texts['login-forgotten'] }).click();
    await expect(heading(page)).toHaveText(texts['forgotten-title']);
    await expect(page).toHaveURL('/portal/forgotten');
    expect(loads).toEqual(['/portal/login', '/portal/forgotten']);
    await page.getByRole('link', { name: texts['return-to-login'] }).click();
    await expect(heading(page)).toHaveText(texts['login-title']);
    await isScripted(page);
  });
});
