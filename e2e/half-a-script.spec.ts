import type { Page, Route } from '@playwright/test';
import { type Disturbance, disturbances, whyNot } from './half-a-script.ts';
import { holdRequests } from './held-requests.ts';
import { isScripted } from './is-scripted.ts';
import { loseAnswer } from './lost-answer.ts';
import { type NextStep, type ScreenWithNextStep, screensWithNextStep } from './next-steps.ts';
import { blockCookies } from './no-cookies.ts';
import { test as base, expect, type World } from './test.ts';
import { textsOf } from './texts.ts';
import { translate } from './translated.ts';

// Whatever goes wrong with a script, a browser or a line, the person can go on: each test does what the person would do
// next on a screen, and arrives where that leads.

const test = base.extend<{ world: World }>({
  world: async ({ context, portal, inbox, stages, newPerson, newPersonWithApp }, use) =>
    await use({ context, portal, inbox, stages, newPerson, newPersonWithApp }),
});

const texts = textsOf('en');
const title = (page: Page) => page.getByRole('heading', { level: 1 });

const mainScript = /\/assets\/main-[^/]+\.js$/;
const otherScripts = /\/assets\/(?!main-)[^/]+\.js$/;
const everyScript = /\/assets\/[^/]+\.js$/;

const abort = (route: Route) => route.abort();
/** As the server answers a file of an earlier deployment. */
const gone = (route: Route) => route.fulfill({ status: 404, contentType: 'application/json', body: '{}' });

/** Fails once the script has rendered the page. */
const noTitle = () =>
  Object.defineProperty(Document.prototype, 'title', {
    set() {
      throw new Error('No title');
    },
  });

const noStorage = () => {
  for (const name of ['sessionStorage', 'localStorage'])
    Object.defineProperty(window, name, {
      get() {
        throw new DOMException('refused', 'SecurityError');
      },
    });
};

/** Nothing is loaded that the visitor did not ask for. */
const neverIdle = () => Object.assign(window, { requestIdleCallback: () => 0 });

/** The console says so; on a busy machine that takes a while. */
const hears = (page: Page, text: RegExp) =>
  page.waitForEvent('console', { predicate: (message) => text.test(message.text()), timeout: 20_000 });

async function opens(page: Page, { heading }: ScreenWithNextStep, { address }: NextStep): Promise<void> {
  await page.goto(address, { waitUntil: 'commit' });
  await expect(title(page)).toContainText(texts[heading]);
}

async function goesOn(page: Page, { fill, press, arrives }: NextStep, scripted: boolean): Promise<void> {
  await fill?.(page, scripted);
  await press(page, scripted);
  await arrives(page);
}

type Walk = (page: Page, screen: ScreenWithNextStep, world: World) => Promise<void>;

const walks: Record<Disturbance, Walk> = {
  async blocked(page, screen, world) {
    const step = await screen.reach(world);
    await page.route(mainScript, abort);
    await opens(page, screen, step);
    await goesOn(page, step, false);
  },

  async gone(page, screen, world) {
    const step = await screen.reach(world);
    await page.route(otherScripts, gone);
    await page.addInitScript(neverIdle);
    const isFirstScript = screen.heading === 'login-title';
    const failed = isFirstScript || hears(page, /imported module/);
    await opens(page, screen, step);
    await failed;
    await goesOn(page, step, isFirstScript);
  },

  async midway(page, screen, world) {
    const step = await screen.reach(world);
    await page.addInitScript(noTitle);
    const failed = hears(page, /No title/);
    await opens(page, screen, step);
    await failed;
    await goesOn(page, step, false);
  },

  async early(page, screen, world) {
    const step = await screen.reach(world);
    await page.addInitScript(noStorage);
    const letGo = await holdRequests(page, mainScript);
    await opens(page, screen, step);
    await step.fill?.(page, false);
    letGo();
    // Six digits are sent by the script as soon as it runs.
    if (step.keeps !== undefined || screen.form?.by !== 'script') await isScripted(page).catch(() => {});
    await step.press(page, true);
    await step.arrives(page);
  },

  async keptOpen(page, screen, world) {
    const step = await screen.reach(world);
    await page.addInitScript(neverIdle);
    await opens(page, screen, step);
    await isScripted(page);
    await page.route(everyScript, gone);
    await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })));
    await goesOn(page, step, true);
  },

  async translated(page, screen, world) {
    const step = await screen.reach(world);
    await opens(page, screen, step);
    await isScripted(page);
    await page.evaluate(translate);
    await goesOn(page, step, true);
  },

  /** Before anything is sent, and then before the answer comes. */
  async line(page, screen, world) {
    const step = await screen.reach(world);
    const call = `**/portal/${screen.form?.call}*`;
    await opens(page, screen, step);
    await isScripted(page);
    for (const breakage of [abort, loseAnswer]) {
      await page.route(call, breakage);
      if (screen.form?.by === 'browser') await breaksInBrowser(page, step);
      else await breaksInScript(page, step, breakage === abort);
      await page.unroute(call);
    }
    if (screen.form?.by === 'script') await submit(page).click();
    else if ((await title(page).textContent())?.includes(texts[screen.heading])) {
      // The answer that was lost did not do it already.
      await step.fill?.(page, true);
      await step.press(page, true);
    }
    if (isUsedUp(screen)) await expectToldOfNewPassword(page);
    else await step.arrives(page);
  },

  async otherTab(page, screen, world) {
    const step = await screen.reach(world);
    const other = await world.context.newPage();
    await opens(page, screen, step);
    await opens(other, screen, step);
    await isScripted(page);
    await isScripted(other);
    await goesOn(other, step, true);
    const { again } = screen.form as { again: 'login-title' };
    // The page of somebody who has signed out follows by itself.
    if (screen.heading !== 'signed-in-title') {
      await step.fill?.(page, true);
      await step.press(page, true);
    }
    await expect(title(page)).toContainText(texts[again]);
    if (isUsedUp(screen)) await expectToldOfNewPassword(page);
    if (screen.form?.again !== 'notice-signInExpired-title') return;
    await page.getByRole('link', { name: texts['sign-in-again'] }).click();
    await expect(title(page)).toHaveText(texts['signed-in-title']);
  },

  async noCookies(page, screen, world) {
    const step = await screen.reach(world);
    await blockCookies(world.context);
    await opens(page, screen, step);
    await isScripted(page);
    if (screen.form?.call !== 'performlogin') return await goesOn(page, step, true);
    // Signing in cannot work: the page says so and does not loop.
    await step.fill?.(page, true);
    const answered = page.waitForResponse('**/performlogin');
    const shown = page.waitForEvent('load');
    await step.press(page, true);
    expect((await answered).status()).toBe(303);
    await shown;
    await expect(title(page)).toHaveText(texts['login-title']);
    await expect(page.getByText(texts['cookies-blocked-text'])).toBeVisible();
    expect(await world.context.cookies()).toEqual([]);
  },
};

const isUsedUp = ({ form }: ScreenWithNextStep) => form?.call === 'password/change';

/** A link works once: the page leads on, and says what has come of it. */
async function expectToldOfNewPassword(page: Page): Promise<void> {
  await expect(page.getByText(texts['changed-failed-page-error-3'])).toBeVisible();
  await page.getByRole('link', { name: texts['return-to-login'] }).click();
  await expect(title(page)).toHaveText(texts['login-title']);
}

const submit = (page: Page) => page.getByRole('main').locator('form').first().locator('button[type=submit]');

/** The browser shows a page of its own, and Back the form. */
async function breaksInBrowser(page: Page, { fill, press, keeps }: NextStep): Promise<void> {
  // Chromium notes what was typed when it has the time, at the latest a second later: only a test is quicker than that.
  await expect(async () => {
    await fill?.(page, true);
    await press(page, true);
    await page.waitForURL('chrome-error://**');
    await page.goBack();
    await isScripted(page);
    await keeps?.(page);
  }).toPass({ timeout: 20_000 });
}

/** The page says so, and the form is alive with what was typed. A translator has replaced the texts around it. */
async function breaksInScript(page: Page, { fill, press, keeps }: NextStep, isFirst: boolean): Promise<void> {
  const failed = page.waitForEvent('requestfailed');
  if (isFirst) {
    await page.evaluate(translate);
    await fill?.(page, true);
    await press(page, true);
  } else await submit(page).click();
  await failed;
  await expect(page.getByRole('alert')).toContainText(/try again/i);
  await expect(page.locator('.veil')).toHaveCount(0);
  await keeps?.(page);
}

for (const screen of screensWithNextStep)
  for (const [disturbance, walk] of Object.entries(walks) as [Disturbance, Walk][])
    if (whyNot(screen, disturbance) === null)
      test(`${screen.name}: ${disturbances[disturbance]}`, async ({ page, world, watch }) => {
        // Each disturbance is an error that the console repeats.
        watch.expect(/./);
        await walk(page, screen, world);
      });
