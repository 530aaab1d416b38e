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
import { changeForm, codeForm, forgottenForm, heading, signInForm } from './forms.ts';
import { test as base, expect, password } from './test.ts';
import { texts, textsOf } from './texts.ts';
import { Watch } from './watch.ts';

// The files of `vestibule pages`, served by nginx in front of a backend that is not ours. No portal of ours runs.

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
const data: BackendData = {
  users: { ada: { password }, tom: { password, secret: key } },
  links: new Map([['a-link', 'ada']]),
};

async function startSite() {
  const folder = await mkdtemp(join(tmpdir(), 'vestibule-pages-'));
  const { err } = await runVestibule(['pages', folder], { env: {} });
  if (err) throw new Error(err);
  const backend = fortyLineBackend(data).listen(0, '127.0.0.1');
  await once(backend, 'listening');
  const port = await freePort();
  const server = await siteOfPages({ folder, port, backend: (backend.address() as AddressInfo).port });
  return {
    origin: `http://localhost:${port}`,
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

test('a wrong password, a right one, an app and a reset work as with our server', async ({ page, watch }) => {
  watch.expect(/Two-factor code not verified: wrong/);
  await page.goto('/portal/#/reports/7');
  await signInForm(page).send('tom', 'wrong');
  await expect(page).toHaveURL(/\/portal\/loginfail\/default$/);
  const signsIn = page.waitForRequest('**/performlogin');
  await signInForm(page).send('tom', password);
  expect((await signsIn).postData()).toBe(`username=tom&password=${password}&redirectURL=%2Fportal%23%2Freports%2F7`);
  await expect(page).toHaveURL(/\/portal\/twoFactor\?redirectURL=/);
  const code = codeForm(page);
  await code.sendWrong(wrongAppCodes(key, 1)[0] ?? '');
  await code.send(appCode(key));
  await expect(heading(page)).toHaveText('The hub');
  await expect(page).toHaveURL(/#\/reports\/7$/);

  await page.goto('/portal/login?lang=de');
  await page.getByRole('link', { name: textsOf('de')['login-forgotten'] }).click();
  await forgottenForm(page, 'de').send('ada@acme.test');
  await expect(heading(page)).toHaveText(textsOf('de')['email-info-title']);
  await page.goto('/portal/forgottenChange?hash=a-link');
  await expect(page).toHaveURL(/\/forgottenChange$/);
  const changes = page.waitForRequest('**/password/change');
  await changeForm(page).send('Copper-Meadow-77');
  expect((await changes).postData()).toBe('hash=a-link&password=Copper-Meadow-77&repeat=Copper-Meadow-77');
  await expect(heading(page)).toHaveText(texts['changed-title']);
});

test('SE-15 the next person in the tab gets neither the link nor the destination of the last', async ({ page }) => {
  const saved = async () => JSON.stringify(await page.evaluate(() => ({ ...sessionStorage })));
  await page.goto('/portal/#/reports/7');
  await expect.poll(saved).toContain('/reports/7');
  await page.goto('/portal/forgottenChange?hash=b-link');
  await expect.poll(saved).toContain('b-link');
  await page.goto('/portal/logout');
  await expect(heading(page)).toHaveText(texts['login-title']);
  expect(await saved()).not.toMatch(/reports|b-link/);
});

for (const javaScriptEnabled of [true, false])
  test(`the first page is in the visitor’s language, with JavaScript: ${javaScriptEnabled}`, async ({
    anotherBrowser,
    started,
  }) => {
    const polish = textsOf('pl');
    const { page } = await anotherBrowser({ locale: 'pl-PL', javaScriptEnabled, baseURL: started.origin });
    await page.goto('/portal/forgottenChangeFailedInfo?7');
    await expect(page.getByText(polish['changed-failed-page-error-7'])).toBeVisible();
    await page.goto('/portal/login');
    await page.getByLabel(polish['login-username']).fill('tom');
    await page.getByLabel(polish['login-password'], { exact: true }).fill(password);
    await page.getByRole('button', { name: polish['login-button'], exact: true }).click();
    await expect(heading(page)).toHaveText(polish['twofa-title']);
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
