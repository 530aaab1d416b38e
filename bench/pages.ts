import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import { chromium, type Page } from 'playwright-core';
import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { build } from 'vite';
import { browserOptions } from '#test/browser/browser-options.ts';
import { find, median } from './figures.ts';
import { ReactForm } from './react-form.ts';

/** Measured rounds, after one that warms the server's caches and the disk's. */
const rounds = 7;

/**
 * Loads the sign-in page on a slow phone, alternating with pages that do less: an unstyled form, ours without its
 * script, and React with nothing but a form.
 */
export async function comparePages(origin: string): Promise<void> {
  const login = `${origin}/portal/login`;
  const floors = await startFloors(login);
  const { unstyled, withoutScript, react } = floors;
  const loads = new Map([unstyled, withoutScript, react, login].map((url) => [url, [] as PageLoad[]]));
  for (let round = 0; round <= rounds; round += 1)
    for (const [url, measured] of loads) {
      const load = await loadPage(url);
      if (round > 0) measured.push(load);
    }
  await floors.close();
  const of = (url: string, figure: keyof PageLoad) =>
    median((loads.get(url) ?? []).map((load) => load[figure] ?? Number.NaN));
  function compare(what: string, figure: keyof PageLoad, floor: { url: string; is: string }, most?: number): void {
    find({
      what: `sign-in page on a slow phone: ${what}`,
      unit: 'ms',
      ours: of(login, figure),
      floor: { is: floor.is, figure: of(floor.url, figure) },
      better: 'less',
      ...(most && { goal: { toFloor: most }, isTold: figure !== 'firstField' }),
    });
  }
  compare('first paint', 'firstPaint', { url: unstyled, is: 'unstyled form' }, 1.25);
  compare('first field usable', 'firstField', { url: withoutScript, is: 'ours without script' }, 1.1);
  compare('hydrated', 'hydrated', { url: react, is: 'React with a form' }, 1.25);
  compare('blocked by long tasks', 'blocking', { url: react, is: 'React with a form' });
  find({
    what: `sign-in page: compressed, in ${of(login, 'requests')} requests`,
    unit: 'KB',
    ours: of(login, 'bytes') / 1000,
    floor: { is: 'React with a form', figure: of(react, 'bytes') / 1000 },
    better: 'less',
    goal: { ours: 75 },
  });
}

/** The pages that ours is measured against, and their addresses. */
type Floors = {
  /** A form in plain HTML, without style or script. */
  unstyled: string;
  /** Our own sign-in page without its script. */
  withoutScript: string;
  /** The smallest form rendered by React and hydrated. */
  react: string;
  close: () => Promise<void>;
};

/** Serves the floors, compressed like ours; `login` is the address of our sign-in page. */
async function startFloors(login: string): Promise<Floors> {
  const form = renderToString(createElement(ReactForm));
  const ours = await (await fetch(login, { headers: { accept: 'text/html' } })).text();
  const files: Record<string, [type: string, text: string]> = {
    '/unstyled': ['text/html', documentOf('', form.replace(' disabled=""', ''))],
    '/without-script': ['text/html', ours.replaceAll(/<script.*?<\/script>|<link rel="modulepreload"[^>]*>/gs, '')],
    '/react': [
      'text/html',
      documentOf('<script type="module" src="/react.js"></script>', `<div id="form">${form}</div>`),
    ],
    '/react.js': ['text/javascript', await builtClient()],
  };
  const compressed = new Map(
    Object.entries(files).map(([path, [type, text]]) => [path, { type, body: brotliCompressSync(text) }]),
  );
  const server = createServer((request, response) => {
    const file = compressed.get(request.url ?? '');
    if (!file) return response.writeHead(404).end();
    const headers = { 'content-type': `${file.type}; charset=utf-8`, 'content-encoding': 'br' };
    return response.writeHead(200, headers).end(file.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`;
  return {
    unstyled: `${origin}/unstyled`,
    withoutScript: `${origin}/without-script`,
    react: `${origin}/react`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function documentOf(head: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Sign in</title>${head}</head><body>${body}</body></html>`;
}

/** React with the floor's form, built as ours is. */
async function builtClient(): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: 'error',
    build: {
      write: false,
      modulePreload: false,
      rolldownOptions: { input: fileURLToPath(new URL('react-form.ts', import.meta.url)) },
    },
  });
  const [output] = [built].flat();
  if (!output || !('output' in output)) throw new Error('React could not be built');
  return output.output.map((file) => (file.type === 'chunk' ? file.code : '')).join('\n');
}

/** What a visitor with an empty cache waits for: times in ms since the page was asked for, sizes in bytes on the wire. */
type PageLoad = {
  firstPaint: number;
  /** When the first field can be seen and typed into. */
  firstField: number;
  /** When React has taken over the first field; null without it. */
  hydrated: number | null;
  /** How long tasks of more than 50 ms kept the page from answering, beyond those 50 ms each. */
  blocking: number;
  /** Until the page has been hydrated, or loaded if it never is. */
  bytes: number;
  requests: number;
};

/** Lighthouse's slow 4G: 150 ms round trips, 1.6 Mbit/s down, 750 kbit/s up, and a processor four times as slow. */
const slowLine = { offline: false, latency: 150, downloadThroughput: 1.6e6 / 8, uploadThroughput: 750e3 / 8 };
const slowProcessor = { rate: 4 };

/** Opens a page in a new browser with an empty cache, on a slow line. */
async function loadPage(url: string): Promise<PageLoad> {
  const profile = await mkdtemp(join(tmpdir(), 'vestibule-page-'));
  const context = await chromium.launchPersistentContext(profile, {
    ...browserOptions.launchOptions,
    viewport: { width: 1280, height: 800 },
    locale: 'en-GB',
  });
  try {
    const page = context.pages()[0] ?? (await context.newPage());
    const session = await context.newCDPSession(page);
    const received: { at: number; bytes: number }[] = [];
    await session.send('Network.enable');
    session.on('Network.loadingFinished', ({ timestamp, encodedDataLength }) =>
      received.push({ at: timestamp * 1000, bytes: encodedDataLength }),
    );
    let asked = 0;
    session.on('Network.requestWillBeSent', ({ timestamp }) => {
      asked ||= timestamp * 1000;
    });
    await session.send('Network.emulateNetworkConditions', slowLine);
    await session.send('Emulation.setCPUThrottlingRate', slowProcessor);
    await page.addInitScript(watchFirstField);
    // What the browser itself does when it starts ends first.
    await page.waitForTimeout(1000);
    await page.goto(url, { waitUntil: 'load' });
    const seen = await seenBy(page);
    const until = asked + Math.max(seen.hydrated ?? 0, seen.loaded);
    const before = received.filter(({ at }) => at <= until);
    return {
      firstPaint: seen.firstPaint,
      firstField: Math.max(seen.firstField, seen.firstPaint),
      hydrated: seen.hydrated,
      blocking: seen.blocking,
      bytes: before.reduce((sum, { bytes }) => sum + bytes, 0),
      requests: before.length,
    };
  } finally {
    await context.close();
    await rm(profile, { recursive: true, force: true });
  }
}

type Seen = { firstPaint: number; firstField: number; hydrated: number | null; blocking: number; loaded: number };

/** What the page has noted of itself once it has been quiet for a while. */
async function seenBy(page: Page): Promise<Seen> {
  await page.waitForFunction(() => (globalThis as unknown as { seen?: Seen }).seen?.firstField);
  await page.waitForTimeout(1000);
  return await page.evaluate(() => {
    const { seen } = globalThis as unknown as { seen: Seen };
    const [paint] = performance.getEntriesByName('first-contentful-paint');
    const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
    return { ...seen, firstPaint: paint?.startTime ?? Number.NaN, loaded: navigation?.loadEventEnd ?? Number.NaN };
  });
}

/** Runs in the page, before its own script: looks in every frame whether the first field is there, and whose it is. */
function watchFirstField(): void {
  const seen = { firstField: 0, hydrated: null as number | null, blocking: 0 };
  Object.assign(globalThis, { seen });
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) seen.blocking += duration - 50;
  }).observe({ type: 'longtask', buffered: true });
  const look = () => {
    const field = document.querySelector('input:not([type=hidden])');
    if (field && !seen.firstField && field.getBoundingClientRect().height > 0) {
      // The frame is painted next; the task after it is the first in which a person can use the field.
      const afterPaint = new MessageChannel();
      afterPaint.port1.onmessage = () => {
        seen.firstField ||= performance.now();
      };
      afterPaint.port2.postMessage(null);
    }
    if (field && seen.hydrated === null && Object.keys(field).some((key) => key.startsWith('__reactFiber')))
      seen.hydrated = performance.now();
    if (seen.hydrated === null) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}
