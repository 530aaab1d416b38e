import type { Page, Route } from '@playwright/test';
import { appCode } from '../support/authenticator-app.ts';
import { codeForm, expectSignedIn, heading, holdRequests, isScripted, signInForm } from './forms.ts';
import { PlainBrowser } from './plain-browser.ts';
import { expect, password, test, type World } from './test.ts';
import { type MessageKey, texts } from './texts.ts';

// Whatever goes wrong with a script, a browser or a line, the person can go on: each test does what the person would do
// next, in a form that the browser posts and in one that the script posts.

/** What a person does next on a screen, as whom. */
type Step = {
  address: string;
  heading: MessageKey;
  /** Where it posts. */
  call: string;
  username: string;
  fill: (page: Page, isScripted: boolean) => Promise<void>;
  /** Sends it. Six boxes send themselves once the last one is filled in. */
  press: (page: Page, isScripted: boolean) => Promise<void>;
};

async function signIn(): Promise<Step> {
  return {
    address: '/portal/login',
    heading: 'login-title',
    call: 'performlogin',
    username: 'ada',
    fill: (page) => signInForm(page).fill('ada', password),
    press: (page) => signInForm(page).button.click(),
  };
}

async function code({ context, portal, newPersonWithApp }: World): Promise<Step> {
  const { username, key } = await newPersonWithApp();
  await context.addCookies(await (await PlainBrowser.signIn(portal, username, password)).cookies());
  return {
    address: '/portal/twoFactor',
    heading: 'twofa-title',
    call: 'two-factor-authentication/verify',
    username,
    async fill(page, isScripted) {
      const { field } = codeForm(page, isScripted);
      if (!isScripted) return await field.fill(appCode(key));
      await field.click();
      await page.keyboard.type(appCode(key));
    },
    async press(page, isScripted) {
      if (!isScripted) await codeForm(page).button.click();
    },
  };
}

const screens = { 'sign-in': signIn, 'a code': code };
type Screen = keyof typeof screens;

const mainScript = /\/assets\/main-[^/]+\.js$/;
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

/** Rewrites the page as a translator in the browser does, now and whenever it changes: texts become elements. Runs there. */
function translate(): void {
  const replaceTexts = (root: Node) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const found: Text[] = [];
    while (walker.nextNode()) found.push(walker.currentNode as Text);
    for (const text of found) {
      if (!text.data.trim() || text.parentElement?.closest('script, style, noscript, [translate=no], font')) continue;
      const font = document.createElement('font');
      font.append(text.data);
      text.replaceWith(font);
    }
  };
  replaceTexts(document.body);
  new MutationObserver(() => replaceTexts(document.body)).observe(document.body, { childList: true, subtree: true });
}

async function opens(page: Page, { address, heading: name }: Step): Promise<void> {
  await page.goto(address, { waitUntil: 'commit' });
  await expect(heading(page)).toContainText(texts[name]);
}

async function goesOn(page: Page, { fill, press, username }: Step, scripted: boolean): Promise<void> {
  await fill(page, scripted);
  await press(page, scripted);
  await expectSignedIn(page, username);
}

const disturbances: Record<string, (page: Page, step: Step, screen: Screen) => Promise<void>> = {
  async 'the script is blocked'(page, step) {
    await page.route(mainScript, abort);
    await opens(page, step);
    await goesOn(page, step, false);
  },

  async 'the script fails half-way'(page, step) {
    await page.addInitScript(noTitle);
    const failed = page.waitForEvent('console', (message) => message.text().includes('No title'));
    await opens(page, step);
    await failed;
    await goesOn(page, step, false);
  },

  async 'filled in before the script runs, storage refused'(page, step, screen) {
    await page.addInitScript(noStorage);
    const letGo = await holdRequests(page, mainScript);
    await opens(page, step);
    await step.fill(page, false);
    letGo();
    // Six digits are sent by the script as soon as it runs.
    if (screen !== 'a code') await isScripted(page);
    await step.press(page, true);
    await expectSignedIn(page, step.username);
  },

  async 'open over a deployment, shown again by Back'(page, step, screen) {
    await page.addInitScript(() => Object.assign(window, { requestIdleCallback: () => 0 }));
    await opens(page, step);
    await isScripted(page);
    await page.route(/\/assets\/[^/]+\.js$/, gone);
    await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })));
    // What is somebody's is asked for again.
    await goesOn(page, step, screen !== 'a code');
  },

  async 'translated by the browser, and the line breaks'(page, step, screen) {
    const call = `**/portal/${step.call}*`;
    await opens(page, step);
    await isScripted(page);
    await page.evaluate(translate);
    await page.route(call, abort);
    await step.fill(page, true);
    await step.press(page, true);
    if (screen === 'a code') {
      await expect(page.getByRole('alert')).toContainText(/try again/i);
      await page.unroute(call);
      await codeForm(page).button.click();
      return await expectSignedIn(page, step.username);
    }
    // The browser shows a page of its own, and Back the form.
    await page.waitForURL('chrome-error://**');
    await page.unroute(call);
    await page.goBack();
    await isScripted(page);
    await goesOn(page, step, true);
  },

  async 'another tab goes first'(page, step, screen) {
    const other = await page.context().newPage();
    for (const tab of [page, other]) {
      await opens(tab, step);
      await isScripted(tab);
    }
    await goesOn(other, step, true);
    await step.fill(page, true);
    await step.press(page, true);
    if (screen === 'a code') await page.getByRole('link', { name: texts['sign-in-again'] }).click();
    await expectSignedIn(page, step.username);
  },
};

for (const [screen, reach] of Object.entries(screens) as [Screen, (world: World) => Promise<Step>][])
  for (const [disturbance, disturb] of Object.entries(disturbances))
    test(`${screen}: ${disturbance}`, async ({ page, world, watch }) => {
      // Each disturbance is an error that the console repeats.
      watch.expect(/./);
      await disturb(page, await reach(world), screen);
    });
