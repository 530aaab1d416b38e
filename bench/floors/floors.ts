import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { build } from 'vite';
import { ReactForm } from './react-form.ts';

/** The pages that ours is measured against, and their addresses. */
export type Floors = {
  /** A form in plain HTML, without style or script. */
  unstyled: string;
  /** Our own sign-in page without its script. */
  withoutScript: string;
  /** The smallest form rendered by React and hydrated. */
  react: string;
  close: () => Promise<void>;
};

/** Serves the floors, compressed like ours; `login` is the address of our sign-in page. */
export async function startFloors(login: string): Promise<Floors> {
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
      rolldownOptions: { input: fileURLToPath(new URL('react-form-client.ts', import.meta.url)) },
    },
  });
  const [output] = [built].flat();
  if (!output || !('output' in output)) throw new Error('React could not be built');
  return output.output.map((file) => (file.type === 'chunk' ? file.code : '')).join('\n');
}
