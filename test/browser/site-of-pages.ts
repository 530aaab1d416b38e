import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BackendData, fortyLineBackend } from '../support/forty-line-backend.ts';
import { freePort } from '../support/free-port.ts';
import { siteOfPages } from '../support/proxy-for-test.ts';
import { runVestibule } from '../support/run-vestibule.ts';
import { password } from './test.ts';

/** Of the app that `tom` has. */
export const appKey = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
/** What the backend knows; `ada` and `bea` have no second factor. */
export const backendData: BackendData = {
  users: { ada: { password }, bea: { password }, tom: { password, secret: appKey } },
  links: new Map([['a-link', 'ada']]),
};

/** Starts the files of `vestibule pages` behind nginx, in front of a backend that is not ours. */
export async function startSite() {
  const folder = await mkdtemp(join(tmpdir(), 'vestibule-pages-'));
  const { err } = await runVestibule(['pages', folder], { env: {} });
  if (err) throw new Error(err);
  const posts: { url: string; body: string }[] = [];
  const backend = fortyLineBackend(backendData);
  backend.prependListener('request', (request) => {
    const post = { url: request.url ?? '', body: '' };
    posts.push(post);
    request.on('data', (chunk) => {
      post.body += chunk;
    });
  });
  const port = await listen(backend);
  const nginx = await freePort();
  const server = await siteOfPages({ folder, port: nginx, backend: port });
  return {
    origin: `http://localhost:${nginx}`,
    posts,
    async stopBackend() {
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

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
