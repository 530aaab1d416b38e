import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { bringPackages } from '../support/bring-packages.ts';

const run = promisify(execFile);

/** Debian's path; SIMPLESAMLPHP overrides it. */
export const simplesamlphp = process.env.SIMPLESAMLPHP ?? '/usr/share/simplesamlphp';

const whereFrom =
  'The tests of SAML need SimpleSAMLphp 1.19 and PHP: install them (Debian: apt-get install simplesamlphp php-cli php-xml) or set SIMPLESAMLPHP to its folder.';

// micro-httpd satisfies the dependency on a web server, which we don't use: PHP has its own.
const packages = ['simplesamlphp', 'php-cli', 'php-cgi', 'php-xml', 'php-mbstring', 'micro-httpd'];

/** Null if SimpleSAMLphp is here or could be installed; else one sentence that says how to install it. */
export async function bringSimplesamlphp(): Promise<string | null> {
  return await bringPackages(packages, isHere, whereFrom);
}

async function isHere(): Promise<boolean> {
  if (!existsSync(`${simplesamlphp}/www/saml2/idp/SSOService.php`)) return false;
  const modules = await run('php', ['-m'], { timeout: 30_000 }).then(
    ({ stdout }) => stdout.split('\n'),
    (): string[] => [],
  );
  return ['dom', 'mbstring', 'openssl'].every((module) => modules.includes(module));
}
