import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';

// In steps: the test runner considers a worker dead after a minute of silence.
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
  if (await isHere()) return null;
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return whereFrom;
  try {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    // Two test files may need it at once.
    const patient = ['-o', 'DPkg::Lock::Timeout=120', '-o', 'Acquire::Retries=3'];
    await run('apt-get', ['update'], { env });
    await run('apt-get', ['install', ...patient, '--yes', '--no-install-recommends', ...packages], { env });
  } catch {
    return `${whereFrom} apt-get could not.`;
  }
  return (await isHere()) ? null : `${whereFrom} It was installed but cannot be loaded.`;
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
