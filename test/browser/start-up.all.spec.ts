import type { Page } from '@playwright/test';
import { holdRequests } from './held-requests.ts';
import { isScripted } from './is-scripted.ts';
import { signInForm } from './sign-in-form.ts';
import { expect, password, test } from './test.ts';
import { textsOf } from './texts.ts';

const texts = textsOf('en');
const asked = '/portal/portal.html?tab=2#/reports/7';

const noTitle = () =>
  Object.defineProperty(Document.prototype, 'title', {
    set() {
      throw new Error('No title');
    },
  });

/** What a browser may lack or refuse, by the step of the start that fails. */
const breakages: [string, () => void][] = [
  ['before anything is read', () => Object.assign(JSON, { parse: undefined })],
  ['while the address is settled', () => Object.assign(String.prototype, { startsWith: undefined })],
  ['while the page is rendered', () => Object.assign(Array.prototype, { includes: undefined })],
  [
    'while the form looks at its fields',
    () => Object.defineProperty(HTMLFormElement.prototype, 'elements', { get: () => null }),
  ],
  ['after the page was rendered', noTitle],
  [
    'while the script adds its own',
    () => {
      const { setAttribute } = Element.prototype;
      Element.prototype.setAttribute = function (name, value) {
        if (name === 'aria-pressed') throw new Error('No button');
        setAttribute.call(this, name, value);
      };
    },
  ],
];

/** The visible part of what the server sent. */
const seen = (page: Page) =>
  page.evaluate(() => ({
    address: location.href,
    html: document.getElementById('portal')?.innerHTML,
  }));

for (const [when, breakage] of breakages) {
  test(`a start that fails ${when} leaves the server's page, which signs in`, async ({
    page,
    anotherBrowser,
    watch,
  }) => {
    watch.expect(/./);
    const plain = await (await anotherBrowser({ javaScriptEnabled: false })).page.context().newPage();
    await plain.goto(asked);
    await page.addInitScript(breakage);
    const failed = page.waitForEvent('console', (message) => message.type() === 'error');
    await page.goto(asked);
    await failed;
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(texts['login-title']);
    const address = page.url();
    expect(address).toMatch(/\/portal\/\?destination=.*#\/reports\/7$/);
    const sent = await plain.locator('#portal').innerHTML();
    await expect.poll(async () => (await seen(page)).html).toBe(sent);
    await signInForm(page).send('ada', password);
    // With the fragment too, where the next page's script gets far enough to bring it back.
    await expect(page).toHaveURL(/\/portal\/portal\.html\?tab=2(?:#\/reports\/7)?$/);
  });
}

test('texts that fail to load leave the server’s page too, where it is not the one asked for', async ({
  page,
  watch,
}) => {
  watch.expect(/./);
  await page.route('**/assets/en-*.js', (route) => route.abort());
  const failed = page.waitForEvent('console', (message) => message.type() === 'error');
  await page.goto('/portal/?tab=2#/forgotten');
  await failed;
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(texts['login-title']);
  await expect(page).toHaveURL('/portal/?tab=2#/forgotten');
  await signInForm(page).send('ada', password);
  await expect(page).toHaveURL('/portal/portal.html');
});

test('texts that fail to load do not hold up the page that the server rendered', async ({ page, watch }) => {
  watch.expect(/ERR_FAILED|dynamically imported module/);
  await page.route('**/assets/en-*.js', (route) => route.abort());
  await page.goto(asked);
  await expect(page.getByRole('button', { name: texts['show-password'] })).toBeVisible();
  await signInForm(page).send('ada', password);
  await expect(page).toHaveURL('/portal/portal.html?tab=2#/reports/7');
});

test('what was typed meanwhile is kept', async ({ page, watch }) => {
  watch.expect(/./);
  await page.addInitScript(noTitle);
  const letGo = await holdRequests(page, '**/assets/main-*.js');
  await page.goto('/portal/login', { waitUntil: 'commit' });
  const form = signInForm(page);
  await form.username.fill('ada');
  const failed = page.waitForEvent('console', (message) => message.type() === 'error');
  letGo();
  await failed;
  await expect(form.username).toHaveValue('ada');
  await expect(page.getByText(texts['general-error-something-went-wrong'])).toHaveCount(0);
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
  ['/portal/two-factor-authentication/recovery-codes', 'recovery codes', isScripted],
  ['/portal/account/passkeys?do=enrol', 'account', passkeyButton],
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
    await started(page);
    const after = await page.evaluate(placesOfPresses);
    expect(before.filter((place) => !after.includes(place))).toEqual([]);
  });
