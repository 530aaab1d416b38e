import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { bringPackages } from '../support/bring-packages.ts';

const run = promisify(execFile);

/** LemonLDAP::NG's pages in Debian's place. */
export const lemonldapPages = '/usr/share/lemonldap-ng/portal';

const whereFrom = [
  'The tests of single sign-on need LemonLDAP::NG 2.16 with lasso, and uWSGI:',
  'install them (Debian: apt-get install --no-install-recommends liblemonldap-ng-portal-perl liblasso-perl',
  'libio-string-perl libstring-random-perl libxml-simple-perl lemonldap-ng-uwsgi-app uwsgi-plugin-psgi mini-httpd).',
].join(' ');

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

/** Null if LemonLDAP::NG is here or could be installed; else one sentence that says how to install it. */
export async function bringLemonldap(): Promise<string | null> {
  return await bringPackages(packages, isHere, whereFrom);
}

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
