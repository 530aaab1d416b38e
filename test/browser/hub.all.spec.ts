import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { freePort } from '../support/free-port.ts';
import { startProxy } from '../support/proxy-for-test.ts';
import { heading, signInForm } from './forms.ts';
import { test as base, both, expect, password, startPortalWithUsers } from './test.ts';

// A hub behind the portal's own gate, and behind nginx as deploy/ sets it up.

type Site = { origin: string; stopHub: () => void };

const test = base.extend<{ gate: Site; nginx: Site }>({
  gate: async ({ oncePerWorker, watch }, use) => {
    const site = await oncePerWorker.get(startGate, undefined);
    watch.know(site.origin);
    watch.know(site.origin.replace('http:', 'ws:'));
    await use(site);
  },
  nginx: async ({ oncePerWorker, watch }, use) => {
    const site = await oncePerWorker.get(startBehindNginx, undefined);
    watch.know(site.origin);
    await use(site);
  },
});

test.describe.configure({ timeout: 120_000 });

async function startGate() {
  const hub = await startHub();
  const portal = await startPortalWithUsers({
    config: { hub: { url: `http://127.0.0.1:${hub.port}`, paths: ['/app'] } },
  });
  return {
    origin: portal.origin,
    stopHub: hub.stop,
    async close() {
      await portal.discard();
      hub.stop();
    },
  };
}

async function startBehindNginx() {
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const hub = await startHub();
  const portal = await startPortalWithUsers({ config: { trustedProxies: ['127.0.0.1/32'] }, publicUrl: origin });
  const rules = 'customer=elsewhere';
  const proxy = await startProxy('nginx', { port, portal: portal.port, hub: hub.port, rules });
  return {
    origin,
    stopHub: hub.stop,
    async close() {
      await proxy.close();
      await portal.discard();
      hub.stop();
    },
  };
}

const page = (path: string, user: string) => `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Hub</title>
<h1>${path} for ${user}</h1>
<form action="/app/upload" method="post"><button>Post</button></form>
<form action="/portal/logout" method="get"><button>Sign out</button></form>
<p id="socket">no socket</p><p id="events">no events</p>
<script>
const say = (id, text) => { document.getElementById(id).textContent = text; };
const socket = new WebSocket('/app/socket');
socket.onmessage = ({ data }) => say('socket', data);
socket.onclose = () => say('socket', 'socket closed');
const events = new EventSource('/app/events');
events.onmessage = ({ data }) => say('events', data);
</script>`;

/** Its page opens a WebSocket and a stream of events. Each answer says who it is for. */
async function startHub(): Promise<{ port: number; stop: () => void }> {
  const hub = createServer(({ url = '', headers, method }, answer) => {
    const user = String(headers['x-vestibule-user']);
    if (url === '/app/events') {
      answer.writeHead(200, { 'content-type': 'text/event-stream' });
      answer.write(`data: events for ${user}\n\n`);
      return;
    }
    answer.setHeader('content-type', 'text/html');
    answer.end(method === 'POST' ? `<h1>posted by ${user}</h1>` : page(url.replaceAll('&', '&amp;'), user));
  });
  hub.on('upgrade', ({ headers }, socket) => {
    socket.on('error', () => {});
    // RFC 6455 §1.3.
    const key = `${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const accept = createHash('sha1').update(key).digest('base64');
    const head = ['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', 'Upgrade: websocket'];
    socket.write([...head, `Sec-WebSocket-Accept: ${accept}`, '', ''].join('\r\n'));
    const text = Buffer.from(`socket for ${headers['x-vestibule-user']}`);
    // One whole text message, unmasked (RFC 6455 §5.2).
    socket.write(Buffer.concat([Buffer.from([0x81, text.length]), text]));
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

test(
  'GT-09 GT-13 gate: a deep link leads through sign-in to the page asked for, with its streams, until sign-out',
  both,
  async ({ anotherBrowser, gate, watch, javaScriptEnabled }) => {
    // Once signed out, the streams of the page are closed, and cannot be opened again.
    watch.expect(/WebSocket|EventSource|events|INCOMPLETE_CHUNKED|404|502/);
    const { page } = await anotherBrowser({ baseURL: gate.origin });
    const asked = '/app/reports?year=2026&q=a%2Fb';
    await page.goto(`${asked}#part-2`);
    await expect(page).toHaveURL(/\/portal\//);
    await signInForm(page).send('ada', 'wrong');
    await expect(page).toHaveURL(/\/loginfail\/default/);
    await signInForm(page).send('ada', password);
    // Without JavaScript no server knows the fragment.
    await expect(page).toHaveURL(asked + (javaScriptEnabled ? '#part-2' : ''));
    await expect(heading(page)).toHaveText(`${asked} for ada`);
    if (javaScriptEnabled) {
      await expect(page.locator('#socket')).toHaveText('socket for ada');
      await expect(page.locator('#events')).toHaveText('events for ada');
    }
    await page.getByRole('button', { name: 'Post' }).click();
    await expect(heading(page)).toHaveText('posted by ada');
    await page.goto('/portal/');
    await expect(heading(page)).toHaveText('/portal/portal.html for ada');

    const other = await page.context().newPage();
    await other.goto('/portal/portal.html');
    await other.getByRole('button', { name: 'Sign out' }).click();
    await expect(signInForm(other).username).toBeVisible();
    // GT-12: the streams of the first tab end with the session.
    if (javaScriptEnabled) await expect(page.locator('#socket')).toHaveText('socket closed', { timeout: 20_000 });
    await page.reload();
    await expect(signInForm(page).username).toBeVisible();
  },
);

test(
  'GT-13 nginx: a deep link leads to the page; one for other customers says so and leads on as somebody else',
  both,
  async ({ anotherBrowser, nginx, watch, javaScriptEnabled }) => {
    // The example of deploy/ forwards no WebSocket to this address.
    watch.expect(/status of 403|WebSocket|EventSource|events|INCOMPLETE_CHUNKED/);
    watch.know(nginx.origin.replace('http:', 'ws:'));
    const { page } = await anotherBrowser({ baseURL: nginx.origin });
    const choose = async (language: string) => {
      await page.getByRole('combobox').selectOption(language);
      if (!javaScriptEnabled) await page.locator('form.language button').click();
    };
    const asked = '/app/reports?year=2026&q=a%2Fb';
    await page.goto(`${asked}#part-2`);
    await signInForm(page).send('ada', password);
    await expect(page).toHaveURL(asked + (javaScriptEnabled ? '#part-2' : ''));
    await expect(heading(page)).toHaveText(`${asked} for ada`);

    const answer = await page.goto('/reports/x?year=2026#part-2');
    expect(answer?.status()).toBe(403);
    await expect(heading(page)).toHaveText('You don’t have access');
    await expect(page.getByText('You’re signed in as ada.')).toBeVisible();
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
  async ({ anotherBrowser, gate, watch }) => {
    // The streams of the page break off with the hub.
    watch.expect(/502|INCOMPLETE_CHUNKED|WebSocket/);
    const { page } = await anotherBrowser({ baseURL: gate.origin });
    await page.goto('/portal/login');
    await signInForm(page).send('ada', password);
    await expect(page).toHaveURL('/portal/portal.html');
    gate.stopHub();
    await page.goto('/app/x?y=1#z');
    await expect(heading(page)).toHaveText('The application isn’t answering');
    await page.reload();
    await expect(heading(page)).toHaveText('The application isn’t answering');
    await expect(page).toHaveURL('/app/x?y=1#z');
  },
);
