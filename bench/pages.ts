import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { build } from 'vite';
import { median, report } from './figures.ts';
import { loadPage, type PageLoad } from './page-load.ts';
import { ReactForm } from './react-form.ts';
import type { RunningServer } from './servers.ts';

/**
 * Loads the sign-in page on a slow phone, alternating with pages that do less: an unstyled form, ours without its
 * script, and React with nothing but a form.
 */
export async function comparePages({ origin }: RunningServer, { rounds }: { rounds: number }): Promise<void> {
  const login = `${origin}/portal/login`;
  const floors = await startFloors(login);
  const { unstyled, withoutScript, react } = floors;
  const loads = new Map([unstyled, withoutScript, react, login].map((url) => [url, [] as PageLoad[]]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const [url, measured] of loads) {
      const load = await loadPage(url);
      // The first round warms the server's caches and the disk's.
      if (round > 0) measured.push(load);
    }
  }
  await floors.close();
  const of = (url: string, figure: keyof PageLoad) =>
    median((loads.get(url) ?? []).map((load) => load[figure] ?? Number.NaN));
  const plain = { url: unstyled, is: 'an unstyled form' };
  const scriptless = { url: withoutScript, is: 'ours without script' };
  const bareReact = { url: react, is: 'React with a form' };
  function compare(what: string, figure: keyof PageLoad, floor: { url: string; is: string }, most: number): void {
    const [ours, theirs] = [of(login, figure), of(floor.url, figure)];
    const ratio = ours / theirs;
    const told = `${ratio.toFixed(2)} of ${floor.is} (${Math.round(ours)} to ${Math.round(theirs)} ms)`;
    report(what, told, `at most ${most}`, ratio <= most);
  }
  compare('first paint on slow 4G', 'firstPaint', plain, 1.25);
  compare('first usable field on slow 4G', 'firstField', scriptless, 1.05);
  compare('hydrated on slow 4G', 'hydrated', bareReact, 1.05);
  compare('blocked by long tasks at a quarter of the speed', 'blocking', bareReact, 1.1);
  const size = of(login, 'bytes') / 1000;
  report(
    'until then, compressed',
    `${size.toFixed(1)} KB in ${of(login, 'requests')} requests (React with a form: ${(of(react, 'bytes') / 1000).toFixed(1)})`,
    'at most 71 KB in 3',
    size <= 71 && of(login, 'requests') <= 3,
  );
}

/** The transfer size of the first page: the document and the script that it starts with. */
export async function measureSizes({ origin }: RunningServer): Promise<void> {
  const page = await encodedBytes(`${origin}/portal/login`);
  const html = brotliDecompressSync(page).toString();
  const scripts = [...html.matchAll(/src="([^"]+\.js)"/g)].map((match) => match[1] as string);
  const sizes = await Promise.all(scripts.map(async (path) => (await encodedBytes(origin + path)).length));
  const whole = sizes.reduce((one, other) => one + other, 0);
  report('first response of /portal/login, brotli', `${page.length} B`, 'at most 7,000 B', page.length <= 7000);
  report(
    `script before the first press (files: ${scripts.length}), brotli`,
    `${whole} B`,
    'at most 70,000 B',
    whole <= 70_000,
  );
}

/** The bytes of an English answer as they are sent, in brotli where it may be; fetch would decode them. */
export async function encodedBytes(url: string): Promise<Buffer> {
  const headers = { 'accept-encoding': 'br', accept: 'text/html', 'accept-language': 'en' };
  return await new Promise((resolve, reject) => {
    get(url, { headers }, async (answer) => resolve(Buffer.concat(await answer.toArray()))).on('error', reject);
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
