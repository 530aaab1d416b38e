import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** Where Debian has it; SIMPLESAMLPHP names another place. */
export const simplesamlphp = process.env.SIMPLESAMLPHP ?? '/usr/share/simplesamlphp';

const whereFrom =
  'The tests of SAML need SimpleSAMLphp 1.19 and PHP: install them (Debian: apt-get install simplesamlphp php-cli php-xml) or set SIMPLESAMLPHP to its folder.';

// micro-httpd stands for the web server that the package asks for and that we do not use: PHP brings its own.
const packages = ['simplesamlphp', 'php-cli', 'php-cgi', 'php-xml', 'php-mbstring', 'micro-httpd'];

/** Null when SimpleSAMLphp is here or could be brought here; else one sentence that says how to bring it. */
export function bringSimplesamlphp(): string | null {
  if (isHere()) return null;
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return whereFrom;
  try {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    // Two files of tests may want it at once.
    const patient = ['-o', 'DPkg::Lock::Timeout=120', '-o', 'Acquire::Retries=3'];
    execFileSync('apt-get', ['update'], { stdio: 'ignore', env });
    execFileSync('apt-get', ['install', ...patient, '--yes', '--no-install-recommends', ...packages], {
      stdio: 'ignore',
      env,
    });
  } catch {
    return 'The tests of SAML need SimpleSAMLphp, and apt-get could not install it: put one there and set SIMPLESAMLPHP.';
  }
  return isHere() ? null : 'SimpleSAMLphp was installed but is not found: set SIMPLESAMLPHP to its folder.';
}

function isHere(): boolean {
  if (!existsSync(`${simplesamlphp}/www/saml2/idp/SSOService.php`)) return false;
  const { status, stdout } = spawnSync('php', ['-m'], { encoding: 'utf8', timeout: 30_000 });
  return status === 0 && ['dom', 'mbstring', 'openssl'].every((module) => stdout.includes(`${module}\n`));
}

if (import.meta.main) {
  const complaint = bringSimplesamlphp();
  if (complaint) {
    process.stderr.write(`${complaint}\n`);
    process.exitCode = 1;
  }
}
