import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { caddyWith, nginxWith, replaceEach, runProxy } from './proxy-for-test.ts';

/** Starts nginx or Caddy on the files of `vestibule pages`, with other addresses and without TLS. */
export async function siteOfPages(
  server: 'nginx' | 'caddy',
  { folder, port, backend }: { folder: string; port: number; backend: number },
): Promise<{ close: () => Promise<void> }> {
  return await runProxy(server, port, async (own) => {
    if (server === 'caddy') {
      const env = { SITE: `http://localhost:${port}`, BACKEND: `127.0.0.1:${backend}` };
      return await caddyWith(own, await readFile(join(folder, 'Caddyfile'), 'utf8'), env);
    }
    const site = replaceEach(await readFile(join(folder, 'nginx.conf'), 'utf8'), {
      '127.0.0.1:3000': `127.0.0.1:${backend}`,
      'listen 443 ssl;': `listen 127.0.0.1:${port};`,
      'ssl_certificate /etc/ssl/certs/hub.pem;': '',
      'ssl_certificate_key /etc/ssl/private/hub.key;': '',
      'hub.example.com': 'localhost',
    });
    return await nginxWith(own, site);
  });
}
