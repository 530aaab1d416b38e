import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { appCode, wrongAppCodes } from '../support/authenticator-app.ts';
import { type BackendData, fortyLineBackend } from '../support/forty-line-backend.ts';
import { freePort } from '../support/free-port.ts';
import { siteOfPages } from '../support/proxy-for-test.ts';
import { runVestibule } from '../support/run-vestibule.ts';
import { codeForm, heading, signInForm } from './forms.ts';
import { test as base, expect, password } from './test.ts';
import { texts, textsOf } from './texts.ts';
import { Watch } from './watch.ts';

// The files of `vestibule pages` in front of a backend that is not ours, served by nginx.

/** No portal of ours runs: `watch` and `baseURL` do without. */
const test = base.extend<{ started: Awaited<ReturnType<typeof startSite>> }>({
  started: async ({ oncePerWorker }, use) => await use(await oncePerWorker.get(startSite, undefined)),
  baseURL: async ({ started }, use) => await use(started.origin),
  watch: async ({ context, started }, use) => {
    const watch = new Watch([started.origin]);
    await watch.over(context);
    await use(watch);
    expect(watch.faults, 'errors, policy violations and requests to strangers').toEqual([]);
  },
});

/** Of the app that `tom` has. */
const key = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
/** What the backend knows; `ada` and `bea` have no second factor. */
const data: BackendData = {
  users: { ada: { password }, bea: { password }, tom: { password, secret: key } },
  links: new Map([['a-link', 'ada']]),
};

/** Starts the files of `vestibule pages` behind nginx, in front of a backend that is not ours. */
async function startSite() {
  const folder = await mkdtemp(join(tmpdir(), 'vestibule-pages-'));
  const { err } = await runVestibule(['pages', folder], { env: {} });
  if (err) throw new Error(err);
  const posts: { url: string; body: string }[] = [];
  const backend = fortyLineBackend(data);
  backend.prependListener('request', (request) => {
    const post = { url: request.url ?? '', body: '' };
    posts.push(post);
    request.on('data', (chunk) => {
      post.body += chunk;
    });
  });
  backend.listen(0, '127.0.0.1');
  await once(backend, 'listening');
  const port = await freePort();
  const server = await siteOfPages({ folder, port, backend: (backend.address() as AddressInfo).port });
  return {
    origin: `http://localhost:${port}`,
    posts,
    stopBackend() {
      backend.closeAllConnections();
      backend.close();
    },
    async close() {
      await server.close();
      backend.close();
      await rm(folder, { recursive: true });
    },
  };
}

test.describe.configure({ mode: 'serial', timeout: 120_000 });

test(`a wrong password, a right one, an app and a reset work as with our server`, async ({ page, started, watch }) => {
  watch.expect(/Two-factor code not verified: wrong/);
  started.posts.length = 0;
  await page.goto(`/portal/#/reports/7`);
  const form = signInForm(page);
  await form.send('tom', 'wrong');
  await expect(page).toHaveURL(/\/portal\/loginfail\/default$/);
  await form.send('tom', password);
  await expect(page).toHaveURL(/\/portal\/twoFactor\?redirectURL=/);
  const [wrong = ''] = wrongAppCodes(key, 1);
  const code = codeForm(page);
  await code.sendWrong(wrong);
  await code.send(appCode(key));
  await expect(heading(page)).toHaveText('The hub');
  await expect(page).toHaveURL(/#\/reports\/7$/);

  await page.goto(`/portal/login?lang=de`);
  await page.getByRole('link', { name: textsOf('de')['login-forgotten'] }).click();
  await expect(heading(page)).toHaveText(textsOf('de')['forgotten-title']);
  await page.getByLabel(textsOf('de').email).fill('ada@acme.test');
  await page.getByRole('button', { name: textsOf('de')['forgotten-button'] }).click();
  await expect(heading(page)).toHaveText(textsOf('de')['email-info-title']);

  data.links.set('a-link', 'ada');
  await page.goto(`/portal/forgottenChange?hash=a-link`);
  await expect(page).toHaveURL(/\/forgottenChange$/);
  for (const label of ['change-password', 'change-repeat'] as const)
    await page.getByLabel(texts[label], { exact: true }).fill('Copper-Meadow-77');
  await page.getByRole('button', { name: texts['change-button'] }).click();
  await expect(heading(page)).toHaveText(texts['changed-title']);

  const sent = started.posts.map(({ url, body }) => `${url} ${body}`).join('\n');
  expect(sent).toContain('/portal/performlogin username=tom&password=wrong&redirectURL=%2Fportal%23%2Freports%2F7');
  expect(sent).not.toMatch(/remember|destination=/);
  expect(sent).toContain('hash=a-link&password=Copper-Meadow-77&repeat=Copper-Meadow-77');
});

test('SE-15 the next person in the tab gets neither the link nor the destination of the last', async ({
  page,
  started,
}) => {
  const saved = async (key: string) => await page.evaluate((name) => sessionStorage.getItem(name), key);
  data.links.set('b-link', 'tom');
  await page.goto('/portal/#/reports/7');
  await expect.poll(async () => await saved('loginHashFragment')).toBe('/reports/7');
  await page.goto('/portal/forgottenChange?hash=b-link');
  await expect.poll(async () => await saved('passwordHashParameter')).toBe('b-link');
  await page.goto('/portal/login');
  await signInForm(page).send('bea', 'wrong');
  await expect(page).toHaveURL(/\/portal\/loginfail\/default$/);
  expect(await saved('loginHashFragment')).toBe('/reports/7');
  await signInForm(page).send('bea', password);
  await expect(page).toHaveURL(/portal\.html#\/reports\/7$/);
  await page.goto('/portal/logout');
  await expect(heading(page)).toHaveText(texts['login-title']);
  expect([await saved('passwordHashParameter'), await saved('loginHashFragment')]).toEqual([null, null]);
  started.posts.length = 0;
  await signInForm(page).send('bea', password);
  await expect(heading(page)).toHaveText('The hub');
  expect(started.posts.find(({ body }) => body)?.body).toMatch(/&redirectURL=%2Fportal$/);
});

test(`the first paint is in the visitor's language`, async ({ browser, contextOptions, started, watch }) => {
  const context = await browser.newContext({ ...contextOptions, locale: 'pl-PL', baseURL: started.origin });
  await watch.over(context);
  const page = await context.newPage();
  // Every text of the heading that was ever shown.
  await page.addInitScript(() => {
    const seen: string[] = [];
    Object.assign(window, { seen });
    const look = () => {
      const text = document.querySelector('h1')?.checkVisibility() && document.querySelector('h1')?.textContent;
      if (text && seen.at(-1) !== text) seen.push(text);
      requestAnimationFrame(look);
    };
    look();
  });
  await page.goto('/portal/');
  await expect(page.locator('.peek').first()).toBeVisible();
  await expect(page.locator('html')).toHaveAttribute('lang', 'pl');
  await expect(page).toHaveTitle(`${textsOf('pl')['login-title']} · Vestibule`);
  expect(await page.evaluate(() => (window as unknown as { seen: string[] }).seen)).toEqual([
    textsOf('pl')['login-title'],
  ]);
  await page.goto('/portal/?reason=3#/forgottenChangeFailedInfo?lang=it');
  await expect(page.getByText(textsOf('it')['changed-failed-page-error-3'])).toBeVisible();
  await expect(page.locator('html')).toHaveAttribute('lang', 'it');
  await context.close();
});

test('without JavaScript, nginx shows what the query says, and the form signs in', async ({
  browser,
  contextOptions,
  started,
  watch,
}) => {
  const context = await browser.newContext({
    ...contextOptions,
    locale: 'de-AT',
    javaScriptEnabled: false,
    baseURL: started.origin,
  });
  await watch.over(context);
  const page = await context.newPage();
  const german = textsOf('de');
  await page.goto('/portal/forgottenChangeFailedInfo?7');
  await expect(page.getByText(german['changed-failed-page-error-7'])).toBeVisible();
  await page.goto('/portal/login');
  await page.getByLabel(german['login-username']).fill('tom');
  await page.getByLabel(german['login-password']).fill(password);
  await page.getByRole('button', { name: german['login-button'], exact: true }).click();
  await expect(heading(page)).toHaveText(german['twofa-title']);
  await context.close();
});

test('an address that is none, and a backend that is away, lead on', async ({ page, started, watch }) => {
  watch.expect(/status of 404|status of 502/);
  await page.goto('/portal/no/such?x=1');
  await expect(page.getByText(`${started.origin}/portal/no/such?x=1`)).toBeVisible();
  started.stopBackend();
  await page.goto('/portal/login');
  await signInForm(page).send('ada', 'any');
  await expect(heading(page)).toHaveText(texts['problem-502-title']);
  await page.getByRole('link', { name: texts['return-to-login'] }).click();
  await expect(heading(page)).toHaveText(texts['login-title']);
});
