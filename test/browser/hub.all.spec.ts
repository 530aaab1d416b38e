import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { freePort } from '../support/free-port.ts';
import { startProxy } from '../support/proxy-for-test.ts';
import { axeScript, expectForEveryone } from './accessibility-faults.ts';
import { heading, signInForm } from './forms.ts';
import { test as base, both, expect, password, startPortalWithUsers } from './test.ts';

// A hub behind the portal's own gate, and behind nginx as deploy/ sets it up.

type Site = { origin: string; stopHub: () => void; close: () => Promise<void> };

const test = base.extend<{ gate: Site; nginx: Site }>({
  gate: async ({ oncePerWorker }, use) => await use(await oncePerWorker.get(startGate, undefined)),
  nginx: async ({ oncePerWorker }, use) => await use(await oncePerWorker.get(startBehindNginx, undefined)),
});

test.describe.configure({ timeout: 120_000 });

async function startGate(): Promise<Site> {
  const hub = await startHub();
  const config = { hub: { url: `http://127.0.0.1:${hub.port}`, paths: ['/app'] } };
  const portal = await startPortalWithUsers({ config });
  return { origin: portal.origin, stopHub: hub.stop, close: () => portal.discard().then(hub.stop) };
}

async function startBehindNginx(): Promise<Site> {
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const hub = await startHub();
  const portal = await startPortalWithUsers({ config: { trustedProxies: ['127.0.0.1/32'] }, publicUrl: origin });
  const behind = { port, portal: portal.port, hub: hub.port, rules: 'customer=elsewhere' };
  const proxy = await startProxy('nginx', behind);
  return { origin, stopHub: hub.stop, close: () => proxy.close().then(() => portal.discard().then(hub.stop)) };
}

/** Each answer says who it is for. */
async function startHub(): Promise<{ port: number; stop: () => void }> {
  const hub = createServer(({ url = '', headers, method }, answer) => {
    const user = headers['x-vestibule-user'];
    answer.setHeader('content-type', 'text/html');
    answer.end(`<!doctype html>
      <h1>${method === 'POST' ? 'posted by' : `${url.replaceAll('&', '&amp;')} for`} ${user}</h1>
      <form action="/app/upload" method="post"><button>Post</button></form>
      <form action="/portal/logout" method="get"><button>Sign out</button></form>`);
  });
  hub.listen(0, '127.0.0.1');
  await once(hub, 'listening');
  return {
    port: (hub.address() as AddressInfo).port,
    stop: () => {
      hub.close();
      hub.closeAllConnections();
    },
  };
}

const asked = '/app/reports?year=2026&q=a%2Fb';

test(
  'GT-13 gate: a deep link leads through sign-in to the page asked for, until sign-out',
  both,
  async ({ anotherBrowser, gate, watch, javaScriptEnabled }) => {
    watch.know(gate.origin);
    const { page } = await anotherBrowser({ baseURL: gate.origin });
    await page.goto(`${asked}#part-2`);
    await expect(page).toHaveURL(/\/portal\//);
    await signInForm(page).send('ada', 'wrong');
    await expect(page).toHaveURL(/\/loginfail\/default/);
    await signInForm(page).send('ada', password);
    // Without JavaScript no server knows the fragment.
    await expect(page).toHaveURL(asked + (javaScriptEnabled ? '#part-2' : ''));
    await expect(heading(page)).toHaveText(`${asked} for ada`);
    await page.getByRole('button', { name: 'Post' }).click();
    await expect(heading(page)).toHaveText('posted by ada');
    await page.goto('/portal/');
    await expect(heading(page)).toHaveText('/portal/portal.html for ada');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await expect(signInForm(page).username).toBeVisible();
    await page.goto(asked);
    await expect(signInForm(page).username).toBeVisible();
  },
);

test(
  'GT-13 nginx: a deep link leads to the page; one for other customers says so and leads on as somebody else',
  both,
  async ({ anotherBrowser, nginx, watch, javaScriptEnabled }) => {
    watch.know(nginx.origin);
    watch.expect(/status of 403/);
    const { page } = await anotherBrowser({ baseURL: nginx.origin });
    await page.addInitScript({ path: axeScript });
    const choose = async (language: string) => {
      await page.getByRole('combobox').selectOption(language);
      if (!javaScriptEnabled) await page.locator('form.language button').click();
    };
    await page.goto(`${asked}#part-2`);
    await signInForm(page).send('ada', password);
    await expect(page).toHaveURL(asked + (javaScriptEnabled ? '#part-2' : ''));
    await expect(heading(page)).toHaveText(`${asked} for ada`);

    const answer = await page.goto('/reports/x?year=2026#part-2');
    expect(answer?.status()).toBe(403);
    await expect(page.getByText('You’re signed in as ada.')).toBeVisible();
    if (javaScriptEnabled) await expectForEveryone(page);
    await choose('de');
    await expect(heading(page)).toHaveText('Kein Zugriff auf diese Seite');
    await page.getByRole('button', { name: 'Anderes Konto verwenden' }).click();
    await expect(page).toHaveURL(/\/portal\/login/);
    await choose('en');
    await signInForm(page).send('ada', password);
    await expect(page).toHaveURL(/\/reports\/x\?year=2026/);
  },
);

test(
  'GT-11 a hub that is down has a page that says so, and a reload asks it again',
  both,
  async ({ anotherBrowser, gate, watch, javaScriptEnabled }) => {
    watch.know(gate.origin);
    watch.expect(/502/);
    const { page } = await anotherBrowser({ baseURL: gate.origin });
    await page.addInitScript({ path: axeScript });
    await page.goto('/portal/login');
    await signInForm(page).send('ada', password);
    await expect(page).toHaveURL('/portal/portal.html');
    gate.stopHub();
    await page.goto('/app/x?y=1#z');
    await expect(heading(page)).toHaveText('The application isn’t answering');
    if (javaScriptEnabled) await expectForEveryone(page);
    await page.reload();
    await expect(heading(page)).toHaveText('The application isn’t answering');
    await expect(page).toHaveURL('/app/x?y=1#z');
  },
);
