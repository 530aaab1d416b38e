import { readFile } from 'node:fs/promises';
import { nginxWith, replaceEach, runProxy } from './proxy-for-test.ts';

/** Starts nginx with deploy/nginx/pages-only.conf on the files of `vestibule pages`, with other addresses, without TLS. */
export async function siteOfPages({
  folder,
  port,
  backend,
}: {
  folder: string;
  port: number;
  backend: number;
}): Promise<{ close: () => Promise<void> }> {
  const example = await readFile(new URL('../../deploy/nginx/pages-only.conf', import.meta.url), 'utf8');
  const site = replaceEach(example, {
    '/srv/portal': folder,
    '127.0.0.1:3000': `127.0.0.1:${backend}`,
    'listen 443 ssl;': `listen 127.0.0.1:${port};`,
    'ssl_certificate /etc/ssl/certs/hub.pem;': '',
    'ssl_certificate_key /etc/ssl/private/hub.key;': '',
    'hub.example.com': 'localhost',
  });
  return await runProxy('nginx', port, (own) => nginxWith(own, site));
}
