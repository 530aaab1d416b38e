import type { BrowserContext } from '@playwright/test';
import { sendInstead } from './lost-answer.ts';

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
