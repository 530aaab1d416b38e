import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { freePort } from '#testing/free-port.ts';
import { startProxy } from '#testing/proxy-for-test.ts';
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
  const proxy = await startProxy('nginx', { port, portal: portal.port, hub: (hub.address() as AddressInfo).port });
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
