import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bringPackages } from './bring-packages.ts';
import { isListening } from './free-port.ts';
import { startProcess } from './started-process.ts';

export type Proxy = 'nginx' | 'caddy';

/** What Debian calls each, and its program. */
const programs: Record<Proxy, { packages: string[]; path: string }> = {
  nginx: { packages: ['nginx-light'], path: '/usr/sbin/nginx' },
  caddy: { packages: ['caddy'], path: '/usr/bin/caddy' },
};

/** Where a proxy listens, and what is behind it: ports of this machine. */
type Setting = {
  port: number;
  portal: number;
  hub: number;
  /** A second instance of the portal, behind nginx. */
  secondPortal?: number;
  /** With the examples of other rules, and what they ask. */
  rules?: string;
};

/** Starts a proxy with the configuration that `deploy/` has for it, with other addresses and without TLS. */
export async function startProxy(proxy: Proxy, setting: Setting): Promise<{ close: () => Promise<void> }> {
  return await runProxy(proxy, setting.port, (folder) => settings[proxy](folder, setting));
}

/** What a proxy is started with. */
type Start = { args: string[]; env?: NodeJS.ProcessEnv };

/** Starts a proxy as `prepare` says, given a folder of its own. */
async function runProxy(
  proxy: Proxy,
  port: number,
  prepare: (folder: string) => Promise<Start>,
): Promise<{ close: () => Promise<void> }> {
  const { packages, path } = programs[proxy];
  await bringPackages(packages, () => existsSync(path));
  const folder = await mkdtemp(join(tmpdir(), `vestibule-${proxy}-`));
  const { args, env } = await prepare(folder);
  const started = await startProcess(path, args, () => isListening(port), { env: { ...process.env, ...env } });
  return {
    async close() {
      await started.end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const settings: Record<Proxy, (folder: string, setting: Setting) => Promise<Start>> = {
  async nginx(folder, { port, portal, hub, secondPortal, rules }) {
    const second = secondPortal === undefined ? '' : `server 127.0.0.1:${secondPortal} max_fails=0;`;
    const site = replaceEach(await textOf('nginx/vestibule.conf', rules), {
      '/etc/nginx/': deployed('nginx/'),
      'server 127.0.0.1:8080 max_fails=0;': `server 127.0.0.1:${portal} max_fails=0; ${second}`,
      '127.0.0.1:3000': `127.0.0.1:${hub}`,
      ...withoutTls(port),
    });
    return await nginxWith(folder, site);
  },
  async caddy(folder, { port, portal, hub, rules }) {
    const addresses = {
      SITE: `http://localhost:${port}`,
      PORTAL: `127.0.0.1:${portal}`,
      HUB: `127.0.0.1:${hub}`,
    };
    return await caddyWith(folder, await textOf('caddy/Caddyfile', rules), addresses);
  },
};

/** nginx with one site, and nothing of it outside the folder. */
async function nginxWith(folder: string, site: string): Promise<Start> {
  const around = [
    'daemon off; master_process off; error_log stderr;',
    `pid ${folder}/pid;`,
    'events {}',
    'http {',
    'access_log off;',
    ...['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`),
    site,
    '}',
  ];
  await writeFile(join(folder, 'nginx.conf'), around.join('\n'));
  return { args: ['-e', 'stderr', '-p', folder, '-c', join(folder, 'nginx.conf')] };
}

/** Caddy with one file, and nothing of it outside the folder. */
async function caddyWith(folder: string, file: string, env: NodeJS.ProcessEnv): Promise<Start> {
  await writeFile(join(folder, 'Caddyfile'), `{\nadmin off\nauto_https off\n}\n${file}`);
  return {
    args: ['run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'],
    env: { ...env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
  };
}

/** A file of `deploy/`; with `rules` its examples count, and ask this instead of `customer=acme`. */
async function textOf(path: string, rules?: string): Promise<string> {
  const text = await readFile(deployed(path), 'utf8');
  if (rules === undefined) return text;
  return text.replace(/#\|(.*)/g, (_, example: string) => example.replace('customer=acme', rules));
}

function deployed(path: string): string {
  return fileURLToPath(new URL(`../../deploy/${path}`, import.meta.url));
}

function replaceEach(text: string, by: Record<string, string>): string {
  return Object.entries(by).reduce((result, [from, to]) => {
    if (!result.includes(from)) throw new Error(`the file lacks ${from}`);
    return result.replaceAll(from, to);
  }, text);
}

/** Starts nginx with deploy/nginx/pages-only.conf on the files of `vestibule pages`, with other addresses, without TLS. */
export async function siteOfPages({ folder, port, backend }: { folder: string; port: number; backend: number }) {
  const site = replaceEach(await textOf('nginx/pages-only.conf'), {
    '/srv/portal': folder,
    '127.0.0.1:3000': `127.0.0.1:${backend}`,
    ...withoutTls(port),
  });
  return await runProxy('nginx', port, (own) => nginxWith(own, site));
}

const withoutTls = (port: number) => ({
  'listen 443 ssl;': `listen 127.0.0.1:${port};`,
  'ssl_certificate /etc/ssl/certs/hub.pem;': '',
  'ssl_certificate_key /etc/ssl/private/hub.key;': '',
  'hub.example.com': 'localhost',
});
