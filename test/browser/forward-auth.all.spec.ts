import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { freePort } from '../support/free-port.ts';
import { startProxy } from '../support/proxy-for-test.ts';
import { signInForm } from './sign-in-form.ts';
import { test as base, expect, password, startPortalWithUsers } from './test.ts';

/** A hub that says who asked for what, behind nginx, as deploy/ sets it up. */
const test = base.extend<{ site: string }>({
  site: async ({ oncePerWorker }, use) => await use((await oncePerWorker.get(startSite, undefined)).origin),
});

async function startSite() {
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const hub = createServer(({ url, headers }, answer) => {
    answer.setHeader('content-type', 'text/plain');
    answer.end(`${url} for ${headers['x-vestibule-user']} of ${headers['x-vestibule-customers']}`);
  }).listen(0, '127.0.0.1');
  await once(hub, 'listening');
  const portal = await startPortalWithUsers({ config: { trustedProxies: ['127.0.0.1/32'] }, publicUrl: origin });
  const rules = 'customer=elsewhere';
  const ports = { port, portal: portal.port, hub: (hub.address() as AddressInfo).port };
  const proxy = await startProxy('nginx', { ...ports, rules });
  return {
    origin,
    async close() {
      await proxy.close();
      await portal.discard();
      hub.close();
    },
  };
}

test('GT-13 a deep link into the hub leads through sign-in, a wrong password included, to the page asked for', {
  tag: '@without-script',
}, async ({ anotherBrowser, site, watch, javaScriptEnabled }) => {
  test.setTimeout(120_000);
  watch.know(site);
  const { page } = await anotherBrowser({ baseURL: site });
  const asked = '/app/reports?year=2026&q=a%2Fb';
  await page.goto(`${asked}#part-2`);
  await signInForm(page).send('ada', 'wrong');
  await expect(page).toHaveURL(/\/loginfail\/default/);
  await signInForm(page).send('ada', password);
  // Without JavaScript no server knows the fragment.
  await expect(page).toHaveURL(asked + (javaScriptEnabled ? '#part-2' : ''));
  await expect(page.locator('body')).toHaveText(`${asked} for ada of acme`);
  await page.context().clearCookies({ name: 'vestibule-session' });
  await page.reload();
  await expect(page).toHaveURL(/\/portal\//);
});

test('a page for other customers says so, in the language of the menu, and leads on as somebody else', {
  tag: '@without-script',
}, async ({ anotherBrowser, site, watch, javaScriptEnabled }) => {
  test.setTimeout(120_000);
  watch.know(site);
  watch.expect(/status of 403/);
  const { page } = await anotherBrowser({ baseURL: site });
  await page.goto('/app');
  await signInForm(page).send('ada', password);
  await expect(page.locator('body')).toHaveText('/app for ada of acme');
  const asked = '/reports/x?year=2026';
  const answer = await page.goto(`${asked}#part-2`);
  expect(answer?.status()).toBe(403);
  await expect(page.getByRole('heading', { name: 'You don’t have access' })).toBeVisible();
  await expect(page.getByText('You’re signed in as ada.')).toBeVisible();
  await page.getByRole('combobox').selectOption('de');
  if (!javaScriptEnabled) await page.locator('form.language button').click();
  await expect(page.getByRole('heading', { name: 'Kein Zugriff auf diese Seite' })).toBeVisible();
  await page.getByRole('button', { name: 'Anderes Konto verwenden' }).click();
  await expect(page).toHaveURL(/\/portal\/login/);
  await page.getByRole('combobox').selectOption('en');
  if (!javaScriptEnabled) await page.locator('form.language button').click();
  await signInForm(page).send('ada', password);
  await expect(page).toHaveURL(new RegExp(`^${site}/reports/x\\?year=2026`));
});
