import type { Page, Route } from '@playwright/test';
import { appCode } from '../support/authenticator-app.ts';
import { blockCookies, holdRequests, isScripted, loseAnswer, translate } from './disturbances.ts';
import { changeForm, codeForm, expectSignedIn, heading, linkFor, newPassword, signInForm } from './forms.ts';
import { PlainBrowser } from './plain-browser.ts';
import { expect, password, test, type World } from './test.ts';
import { type MessageKey, texts } from './texts.ts';

// Whatever goes wrong with a script, a browser or a line, the person can go on: each test does what the person would do
// next on a screen, and arrives where that leads. A form that the browser posts, one that the script posts, and one that
// works once.

/** What a person does next on a screen, and where that leads. */
type Step = {
  address: string;
  heading: MessageKey;
  /** Where it posts. */
  call: string;
  fill: (page: Page, isScripted: boolean) => Promise<void>;
  /** Sends it. Six boxes send themselves once the last one is filled in. */
  press: (page: Page, isScripted: boolean) => Promise<void>;
  /** What of it is still there after a post that failed; browsers keep no passwords. */
  keeps?: (page: Page) => Promise<void>;
  arrives: (page: Page) => Promise<void>;
};

async function signIn(): Promise<Step> {
  return {
    address: '/portal/login',
    heading: 'login-title',
    call: 'performlogin',
    fill: (page) => signInForm(page).fill('ada', password),
    press: (page) => signInForm(page).button.click(),
    keeps: (page) => expect(signInForm(page).username).toHaveValue('ada'),
    arrives: (page) => expectSignedIn(page, 'ada'),
  };
}

async function code({ context, portal, newPersonWithApp }: World): Promise<Step> {
  const { username, key } = await newPersonWithApp();
  await context.addCookies([(await PlainBrowser.signIn(portal, username, password)).cookie]);
  return {
    address: '/portal/twoFactor',
    heading: 'twofa-title',
    call: 'two-factor-authentication/verify',
    async fill(page, isScripted) {
      const { field } = codeForm(page, isScripted);
      if (!isScripted) return await field.fill(appCode(key));
      await field.click();
      await page.keyboard.type(appCode(key));
    },
    async press(page, isScripted) {
      if (!isScripted) await codeForm(page).button.click();
    },
    keeps: (page) => expect(page.locator('input[name=code]')).toHaveValue(/^\d{6}$/),
    arrives: (page) => expectSignedIn(page, username),
  };
}

async function changePassword({ newPerson, portal, inbox }: World): Promise<Step> {
  const { email } = await newPerson();
  return {
    address: await linkFor({ portal, inbox }, email),
    heading: 'change-title',
    call: 'password/change',
    fill: (page) => changeForm(page).fill(newPassword),
    press: (page) => changeForm(page).button.click(),
    arrives: (page) => expect(heading(page)).toHaveText(texts['changed-title']),
  };
}

const screens = { 'sign-in': signIn, 'a code': code, 'a new password': changePassword };
type Screen = keyof typeof screens;

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

async function opens(page: Page, { address, heading: name }: Step): Promise<void> {
  await page.goto(address, { waitUntil: 'commit' });
  await expect(heading(page)).toContainText(texts[name]);
}

async function goesOn(page: Page, { fill, press, arrives }: Step, scripted: boolean): Promise<void> {
  await fill(page, scripted);
  await press(page, scripted);
  await arrives(page);
}

/** A link works once: the page leads on, and says what has come of it. */
async function expectToldOfNewPassword(page: Page): Promise<void> {
  await expect(page.getByText(texts['changed-failed-page-error-3'])).toBeVisible();
  await page.getByRole('link', { name: texts['return-to-login'] }).click();
  await expect(heading(page)).toHaveText(texts['login-title']);
}

const disturbances: Record<string, (page: Page, step: Step, screen: Screen, world: World) => Promise<void>> = {
  async 'the script is blocked'(page, step) {
    await page.route(mainScript, abort);
    await opens(page, step);
    await goesOn(page, step, false);
  },

  async 'its other files are gone'(page, step, screen) {
    await page.route(otherScripts, gone);
    await page.addInitScript(neverIdle);
    const isFirstScript = screen === 'sign-in';
    const failed = isFirstScript || hears(page, /imported module/);
    await opens(page, step);
    await failed;
    await goesOn(page, step, isFirstScript);
  },

  async 'it fails half-way'(page, step) {
    await page.addInitScript(noTitle);
    const failed = hears(page, /No title/);
    await opens(page, step);
    await failed;
    await goesOn(page, step, false);
  },

  async 'filled in before it runs, storage refused'(page, step, screen) {
    await page.addInitScript(noStorage);
    const letGo = await holdRequests(page, mainScript);
    await opens(page, step);
    await step.fill(page, false);
    letGo();
    // Six digits are sent by the script as soon as it runs.
    if (screen !== 'a code') await isScripted(page);
    await step.press(page, true);
    await step.arrives(page);
  },

  async 'open over a deployment, shown again by Back'(page, step, screen) {
    await page.addInitScript(neverIdle);
    await opens(page, step);
    await isScripted(page);
    await page.route(everyScript, gone);
    await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })));
    // What is somebody's is asked for again.
    await goesOn(page, step, screen !== 'a code');
  },

  async 'translated by the browser'(page, step) {
    await opens(page, step);
    await isScripted(page);
    await page.evaluate(translate);
    await goesOn(page, step, true);
  },

  async 'the line breaks before the post arrives, and before its answer does'(page, step, screen) {
    const call = `**/portal/${step.call}*`;
    await opens(page, step);
    await isScripted(page);
    for (const breakage of [abort, loseAnswer]) {
      await page.route(call, breakage);
      if (screen === 'a code') await breaksInScript(page, step, breakage === abort);
      else await breaksInBrowser(page, step);
      await page.unroute(call);
    }
    if (screen === 'a code') {
      // Its answer was lost, so the sign-in begins again.
      await codeForm(page).button.click();
      await page.getByRole('link', { name: texts['sign-in-again'] }).click();
      return await expect(heading(page)).toHaveText(texts['login-title']);
    }
    if ((await heading(page).textContent())?.includes(texts[step.heading])) {
      // The answer that was lost did not do it already.
      await step.fill(page, true);
      await step.press(page, true);
    }
    if (screen === 'a new password') await expectToldOfNewPassword(page);
    else await step.arrives(page);
  },

  async 'another tab goes first'(page, step, screen, { context }) {
    const other = await context.newPage();
    await opens(page, step);
    await opens(other, step);
    await isScripted(page);
    await isScripted(other);
    await goesOn(other, step, true);
    await step.fill(page, true);
    await step.press(page, true);
    if (screen === 'a new password') return await expectToldOfNewPassword(page);
    if (screen === 'a code') await page.getByRole('link', { name: texts['sign-in-again'] }).click();
    await expect(heading(page)).toHaveText(texts['signed-in-title']);
  },
};

/** The browser shows a page of its own, and Back the form. */
async function breaksInBrowser(page: Page, { fill, press, keeps }: Step): Promise<void> {
  // Chromium notes what was typed when it has the time, at the latest a second later: only a test is quicker than that.
  await expect(async () => {
    await fill(page, true);
    await press(page, true);
    await page.waitForURL('chrome-error://**');
    await page.goBack();
    await isScripted(page);
    await keeps?.(page);
  }).toPass({ timeout: 20_000 });
}

/** The page says so, and the form is alive with what was typed. A translator has replaced the texts around it. */
async function breaksInScript(page: Page, { fill, press, keeps }: Step, isFirst: boolean): Promise<void> {
  const failed = page.waitForEvent('requestfailed');
  if (isFirst) {
    await page.evaluate(translate);
    await fill(page, true);
    await press(page, true);
  } else await codeForm(page).button.click();
  await failed;
  await expect(page.getByRole('alert')).toContainText(/try again/i);
  await expect(page.locator('.veil')).toHaveCount(0);
  await keeps?.(page);
}

for (const [screen, reach] of Object.entries(screens) as [Screen, (world: World) => Promise<Step>][])
  for (const [disturbance, disturb] of Object.entries(disturbances))
    test(`${screen}: ${disturbance}`, async ({ page, world, watch }) => {
      // Each disturbance is an error that the console repeats.
      watch.expect(/./);
      await disturb(page, await reach(world), screen, world);
    });

test('with cookies off the sign-in form says so, before and after', async ({ page, context, watch }) => {
  watch.expect(/./);
  await blockCookies(context);
  await page.goto('/portal/login');
  await expect(page.getByText(texts['cookies-blocked-text'])).toBeVisible();
  await signInForm(page).send('ada', password);
  await expect(page.getByText(texts['notice-cookiesNeeded-text'])).toBeVisible();
  await expect(page.getByText(texts['cookies-blocked-text'])).toBeVisible();
  await expect(heading(page)).toHaveText(texts['login-title']);
  expect(await context.cookies()).toEqual([]);
});
