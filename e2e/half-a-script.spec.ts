import type { Page, Route } from '@playwright/test';
import { holdRequests } from './held-requests.ts';
import { type NextStep, type ScreenWithNextStep, screensWithNextStep } from './next-steps.ts';
import { test as base, expect, type World } from './test.ts';
import { textsOf } from './texts.ts';
import { translate } from './translated.ts';

const texts = textsOf('en');

const test = base.extend<{ world: World }>({
  world: async ({ context, portal, inbox, stages, newPerson, newPersonWithApp }, use) =>
    await use({ context, portal, inbox, stages, newPerson, newPersonWithApp }),
});

test.beforeEach(({ watch }) => watch.expect(/./));

const mainScript = /\/assets\/main-[^/]+\.js$/;
const otherScripts = /\/assets\/(?!main-)[^/]+\.js$/;
const everyScript = /\/assets\/[^/]+\.js$/;

const abort = (route: Route) => route.abort();
const gone = (route: Route) => route.fulfill({ status: 404, body: '{}', contentType: 'application/json' });

/** The server does what is asked, and the line breaks before the browser reads of it. */
async function loseAnswer(route: Route): Promise<void> {
  const request = route.request();
  const headers = Object.entries(await request.allHeaders()).filter(([name]) => !/^(?::|host$|content-length$|connection$)/.test(name));
  const body = request.postDataBuffer();
  const answer = await fetch(request.url(), { method: request.method(), headers, redirect: 'manual', ...(body && { body: new Uint8Array(body) }) });
  await answer.arrayBuffer();
  await route.abort('connectionreset');
}

const isScripted = (page: Page) => expect.poll(() => page.evaluate(() => document.getElementById('lang') && Object.keys(document.getElementById('lang') as object).some((key) => key.startsWith('__reactProps')))).toBe(true);

async function goOn(page: Page, { fill, press, arrives }: NextStep, scripted: boolean): Promise<void> {
  await fill?.(page, scripted);
  await press(page, scripted);
  await arrives(page);
}

const heading1 = (page: Page) => page.getByRole('heading', { level: 1 });

for (const { heading, form, reach } of screensWithNextStep) {
  if (!form) continue;
  const opens = async (page: Page, address: string) => {
    await page.goto(address);
    await expect(heading1(page)).toContainText(texts[heading]);
  };
  if (form.by === 'browser') test(`${heading}: line`, async ({ page, world }) => {
    const step = await reach(world);
    await opens(page, step.address);
    const call = `**/portal/${form.call}*`;
    for (const breakage of [abort, loseAnswer]) {
      await isScripted(page);
      await page.evaluate(translate);
      await page.route(call, breakage);
      await step.fill?.(page, true);
      await step.press(page, true);
      await page.waitForURL('chrome-error://**');
      await page.unroute(call);
      await page.goBack();
      console.log(heading, page.url(), await heading1(page).textContent(), await page.locator('main input:visible').evaluateAll((all) => all.map((e) => (e as HTMLInputElement).value)));
    }
    if ((await heading1(page).textContent())?.includes(texts[heading])) {
    await step.fill?.(page, true);
    await step.press(page, true);
    }
    await step.arrives(page);
  });
  else test(`${heading}: line`, async ({ page, world }) => {
    const step = await reach(world);
    await opens(page, step.address);
    const call = `**/portal/${form.call}*`;
      await isScripted(page);
      await page.evaluate(translate);
      await step.fill?.(page, false).catch(() => {});
    for (const breakage of [abort, loseAnswer]) {
      await page.route(call, breakage);
      const failed = page.waitForEvent('requestfailed');
      if (breakage === abort) { await step.fill?.(page, true); 
      await step.press(page, true);
      } else await page.getByRole('main').locator('form button[type=submit]').first().click();
      await failed;
      await expect(page.locator('.veil')).toHaveCount(0);
      await page.unroute(call);
      console.log(heading, page.url(), await heading1(page).textContent(), await page.locator('main input:visible').evaluateAll((all) => all.map((e) => (e as HTMLInputElement).value)), await page.locator('.alert:visible, .error:visible').allTextContents());
    }
    await page.getByRole('main').locator('form button[type=submit]').first().click();
    await step.arrives(page);
  });
  test(`${heading}: two tabs`, async ({ page, world, context }) => {
    const step = await reach(world);
    await opens(page, step.address);
    const second = await context.newPage();
    await opens(second, step.address);
    await isScripted(second);
    await goOn(page, step, true);
    console.log('TAB before', heading, second.url(), await heading1(second).textContent());
    await step.fill?.(second, true).catch((e) => console.log('FILL', heading, String(e).slice(0,80)));
    await step.press(second, true).catch((e) => console.log('PRESS', heading, String(e).slice(0,80)));
    await second.waitForTimeout(1500);
    console.log('TAB after', heading, second.url(), await heading1(second).textContent(), await second.locator('.alert:visible, .error:visible').allTextContents(), await second.locator('.veil').count());
  });
}
