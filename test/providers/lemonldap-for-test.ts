import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeCertificate } from '#server/single-sign-on/portal-keys.ts';
import { bringPackages } from '../support/bring-packages.ts';
import { freePort } from '../support/free-port.ts';
import { isAnswered, startProcess } from '../support/started-process.ts';
import { type LemonldapClient, lemonldapConfiguration, lemonldapIni } from './lemonldap/configuration.ts';

export type Lemonldap = Awaited<ReturnType<typeof startLemonldap>>;

/**
 * An independent provider: LemonLDAP::NG, whose SAML uses lasso and whose OpenID Connect is its own. It asks for a name
 * and a password, which are equal, and for consent. Its clock is real. It has people by name and address, and one portal to
 * sign them in to.
 */
export async function startLemonldap(people: Record<string, string>, client: LemonldapClient) {
  await bringPackages(packages, isHere);
  const folder = await mkdtemp(join(tmpdir(), 'lemonldap-'));
  for (const name of ['cache', 'sessions/lock', 'persistent/lock'])
    await mkdir(join(folder, name), { recursive: true });
  // By IP address, so that it is another site than a portal on localhost, like real providers.
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const key = await makeCertificate('idp', new Date(Date.now() - 24 * 3_600_000));
  const configuration = lemonldapConfiguration(origin, folder, client, key);
  await writeFile(join(folder, 'lmConf-1.json'), JSON.stringify(configuration));
  await writeFile(join(folder, 'lemonldap-ng.ini'), lemonldapIni(folder, lemonldapPages));
  const metadataUrl = `${origin}/saml/metadata`;
  const env = {
    PATH: process.env.PATH,
    LLNG_DEFAULTCONFFILE: join(folder, 'lemonldap-ng.ini'),
    LLNG_PEOPLE: JSON.stringify(people),
  };
  const uwsgi = await startProcess('uwsgi', argumentsOf(port), () => isAnswered(metadataUrl), { env });
  return {
    origin,
    issuer: `${origin}/`,
    metadataUrl,
    metadata: async () => await (await fetch(metadataUrl)).text(),
    log: uwsgi.output,
    close: async () => {
      await uwsgi.end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** uWSGI speaks HTTP itself; its router holds idle browser connections, so two workers are enough. */
function argumentsOf(port: number): string[] {
  const psgi = join(import.meta.dirname, 'lemonldap/portal.psgi');
  return [
    ...['--plugins', 'http,psgi', '--http', `127.0.0.1:${port}`, '--http-keepalive', '--psgi', psgi],
    ...['--master', '--die-on-term', '--no-orphans', '--processes', '2', '--need-app', '--buffer-size', '32768'],
    ...['--static-map', `/static=${lemonldapPages}/htdocs/static`],
    ...['--static-map', '/javascript=/usr/share/javascript', '--disable-logging'],
  ];
}

const run = promisify(execFile);

/** LemonLDAP::NG's pages in Debian's place. */
const lemonldapPages = '/usr/share/lemonldap-ng/portal';

/**
 * The portal depends on a way to run it and a web server: lemonldap-ng-uwsgi-app is one file, and mini-httpd is off by
 * default, so nothing is started. The libraries for OpenID Connect and SAML are only recommended or suggested.
 */
const packages = [
  'liblemonldap-ng-portal-perl',
  'liblasso-perl',
  'libio-string-perl',
  'libstring-random-perl',
  'libxml-simple-perl',
  'lemonldap-ng-uwsgi-app',
  'uwsgi-plugin-psgi',
  'mini-httpd',
];

async function isHere(): Promise<boolean> {
  const modules = ['SAML', 'OpenIDConnect'].map((name) => `-MLemonldap::NG::Portal::Issuer::${name}`);
  return await Promise.all([
    run('perl', [...modules, '-e', '1'], { timeout: 60_000 }),
    run('uwsgi', ['--plugin', 'psgi', '--version'], { timeout: 30_000 }),
  ]).then(
    () => existsSync(lemonldapPages),
    () => false,
  );
}
