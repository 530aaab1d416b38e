import type { BrowserContext, Page, Request, Route } from '@playwright/test';
import { type Dispatcher, request as sendRequest } from 'undici';

/** Holds a page's requests for these URLs until the returned function is called. */
export async function holdRequests(page: Page, url: string | RegExp): Promise<() => void> {
  const { promise: isLetGo, resolve: letGo } = Promise.withResolvers<void>();
  await page.route(url, async (route) => {
    await isLetGo;
    await route.continue();
  });
  return letGo;
}

/** Waits until React has taken over the language menu, which every screen has; on a busy machine that takes a while. */
export async function isScripted(page: Page): Promise<void> {
  await page.waitForFunction(
    () => Object.keys(document.querySelector('#lang') ?? {}).some((key) => key.startsWith('__react')),
    null,
    { timeout: 20_000 },
  );
}

/** Headers that belong to a connection. */
const ofConnection = /^(?::|host$|connection$|content-length$)/;

/** Sends a request to the server in place of the browser, which learns nothing of the answer. */
async function sendInstead(request: Request, withoutHeader?: string): Promise<Dispatcher.ResponseData> {
  const headers = Object.entries(await request.allHeaders()).filter(
    ([name]) => !ofConnection.test(name) && name !== withoutHeader,
  );
  return await sendRequest(request.url(), {
    method: request.method() as Dispatcher.HttpMethod,
    // Of a page the browser adds this after it has shown the request here.
    headers: { ...Object.fromEntries(headers), ...(request.isNavigationRequest() && { 'sec-fetch-mode': 'navigate' }) },
    body: request.postDataBuffer(),
  });
}

/** The server does what a request asks, and the line breaks before the browser reads anything of the answer. */
export async function loseAnswer(route: Route): Promise<void> {
  const { body } = await sendInstead(route.request());
  await body.dump();
  await route.abort('connectionreset');
}

/** Of an answer, what the browser must not learn, and what is of the line alone. */
const dropped = new Set(['set-cookie', 'content-length', 'transfer-encoding', 'connection', 'keep-alive']);

/**
 * Blocks cookies in a context, and with them every storage, as a setting of Chromium does that its headless version
 * lacks: no request brings a cookie, none of an answer is kept, and the page can tell.
 */
export async function blockCookies(context: BrowserContext): Promise<void> {
  await context.addInitScript(() => {
    Object.defineProperty(Navigator.prototype, 'cookieEnabled', { get: () => false });
    for (const name of ['sessionStorage', 'localStorage'])
      Object.defineProperty(window, name, {
        get() {
          throw new DOMException('refused', 'SecurityError');
        },
      });
  });
  await context.setExtraHTTPHeaders({ 'accept-encoding': 'identity' });
  await context.route('**/portal/**', async (route) => {
    const { statusCode: status, headers: all, body } = await sendInstead(route.request(), 'cookie');
    const headers = Object.entries(all).filter(([name]) => !dropped.has(name));
    const text = Object.fromEntries(headers.map(([name, value]) => [name, String(value)]));
    await route.fulfill({ status, headers: text, body: Buffer.from(await body.arrayBuffer()) });
  });
}

/**
 * Rewrites the page as a translator in the browser does, now and whenever it changes: each text node is replaced by
 * elements with a text of their own, which say the same here. Runs in the page.
 */
export function translate(): void {
  const skipped = 'script, style, noscript, textarea, [translate=no], font';
  const replaceTexts = (root: Node) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const texts: Text[] = [];
    while (walker.nextNode()) texts.push(walker.currentNode as Text);
    for (const text of texts) {
      if (!text.data.trim() || text.parentElement?.closest(skipped)) continue;
      const [outer, inner] = [document.createElement('font'), document.createElement('font')];
      inner.append(text.data);
      outer.append(inner);
      text.replaceWith(outer);
    }
  };
  replaceTexts(document.body);
  new MutationObserver((changes) => {
    for (const { target, addedNodes } of changes)
      for (const node of target.nodeType === Node.TEXT_NODE ? [target] : addedNodes) {
        const parent = node.parentNode;
        if (parent) replaceTexts(node.nodeType === Node.TEXT_NODE ? parent : node);
      }
  }).observe(document.body, { childList: true, characterData: true, subtree: true });
}
