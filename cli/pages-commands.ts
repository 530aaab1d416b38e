import { resolve } from 'node:path';
import type { Command } from 'commander';
import { placeholderWarning } from '#server/config/config.ts';
import { loopbackNames } from '#server/config/public-url.ts';
import { askPassword, canAsk, readStdin } from './ask.ts';
import type { Finding } from './backend-visit.ts';
import type { Account } from './conformance-checks.ts';
import { repeatable } from './options.ts';
import { exitCodes, failure, printJson, printLine } from './print.ts';
import { loadConfig } from './with-database.ts';

type Flags = { provider?: string[]; force?: true; json?: true };

/** `vestibule pages` */
export function addPagesCommand(program: Command): void {
  program
    .command('pages <folder>')
    .description("write all screens as static files, to be put in front of a backend that isn't this server")
    .addOption(repeatable('--provider <origin>', 'an origin that the backend redirects the sign-in forms to'))
    .option('--force', 'write into a folder that holds other files; those stay, unless one of ours has their name')
    .option('--json', 'print what was written as JSON')
    .addHelpText('after', '\nHow a web server serves them: deploy/nginx/pages-only.conf and docs/branding.md.')
    .action(runPages);
}

async function runPages(folder: string, { provider = [], force, json }: Flags) {
  const origins = provider.map(readOrigin);
  const path = resolve(folder);
  const config = loadConfig();
  const { isOurs, writeFolder } = await import('#server/pages/static-files.ts');
  if (!force && !(await isOurs(path).catch(cannotWrite)))
    throw failure(`${path} holds files that are not ours. --force leaves them there.`);
  const { staticFiles } = await import('#server/pages/static-files.ts');
  const files = await staticFiles(config, origins);
  await writeFolder(path, files).catch(cannotWrite);
  const warning = placeholderWarning(config);
  if (json) return printJson({ folder: path, files: files.size, warnings: warning ? [warning] : [] });
  printLine(`${files.size} files are in ${path}:\n`);
  printLine('  public/       what a web server serves');
  printLine('  headers.conf  the headers of every page, for nginx');
  printLine('\nWhether a backend keeps its part: vestibule conformance <url>');
  if (warning) printLine(`\nWarning: ${warning}.`);
}

function cannotWrite({ code, path, message }: NodeJS.ErrnoException): never {
  throw failure(`${path ?? 'The folder'} cannot be written (${code ?? message}).`);
}

function readOrigin(text: string): string {
  const url = URL.parse(text);
  if (!url || url.href !== `${url.origin}/` || !/^https:\/\/[a-z\d.-]+(?::\d+)?$/.test(url.origin))
    throw failure(`--provider: ${JSON.stringify(text)} is not an origin such as https://login.example.com`);
  return url.origin;
}

type ConformanceFlags = {
  username?: string;
  passwordStdin?: true;
  totp?: true;
  email?: string;
  ssoEmail?: string;
  resetLink?: true;
  json?: true;
};

/** `vestibule conformance` */
export function addConformanceCommand(program: Command): void {
  program
    .command('conformance <url>')
    .description('try whether a backend keeps the calls of the pages, and print what differs')
    .option('--username <name>', 'a test account; its password is asked for')
    .option('--totp', 'the account has an authenticator app; its secret is asked for, in base32')
    .option('--reset-link', 'an unused reset link, and the password that it shall set, are asked for')
    .option('--password-stdin', 'read what would be asked for from standard input, one a line, in this order')
    .option('--email <address>', 'an address with an account: it is sent a reset link')
    .option('--sso-email <address>', 'an address whose domain signs in through a provider')
    .option('--json', 'print the checks as JSON: {call, what, kind}, and expected and got, or why')
    .addHelpText('after', '\nThe exit code is 0 if nothing differs. See docs/branding.md.')
    .action(runConformance);
}

async function runConformance(url: string, flags: ConformanceFlags): Promise<void> {
  const base = readBase(url);
  const account = await readAccount(flags);
  const { conformanceChecks } = await import('./conformance-checks.ts');
  const findings: Finding[] = [];
  try {
    for await (const finding of conformanceChecks(base, account, () => new Date())) {
      findings.push(finding);
      if (!flags.json) printFinding(finding);
    }
  } catch (error) {
    throw noAnswer(base, error);
  }
  const count = (kind: Finding['kind']) => findings.filter((finding) => finding.kind === kind).length;
  if (flags.json) printJson(findings);
  else printLine(`\n${count('passed')} passed, ${count('differs')} differ, ${count('not tried')} not tried.`);
  process.exitCode = count('differs') > 0 ? exitCodes.refused : exitCodes.done;
}

function readBase(text: string): URL {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.search || url.hash)
    throw failure(`${JSON.stringify(text)} is not an address such as https://hub.example.com/portal`);
  if (url.protocol === 'http:' && !loopbackNames.includes(url.hostname))
    throw failure('The address must be https, since a password is sent there; plain http is for this machine only.');
  url.pathname = url.pathname === '/' ? '/portal' : url.pathname.replace(/\/$/, '');
  return url;
}

async function readAccount(flags: ConformanceFlags): Promise<Account> {
  const { username = null, totp, resetLink, email = null, ssoEmail = null } = flags;
  if (totp && username === null) throw failure('--totp: needs --username.');
  const asked = [
    ...(username === null ? [] : ['Password']),
    ...(totp ? ['Secret of the app'] : []),
    ...(resetLink ? ['Reset link', 'New password'] : []),
  ];
  const given = await readSecrets(asked, flags.passwordStdin === true);
  const secretOf = (name: string) => given[asked.indexOf(name)] ?? null;
  const totpSecret =
    secretOf('Secret of the app')
      ?.replace(/[\s=-]/g, '')
      .toUpperCase() ?? null;
  if (totpSecret !== null && !/^[A-Z2-7]{16,}$/.test(totpSecret)) throw failure('--totp: the secret is not base32.');
  const [link, newPassword] = [secretOf('Reset link'), secretOf('New password')];
  const hash = link && (URL.parse(link)?.searchParams.get('hash') ?? link);
  const reset = hash && newPassword ? { hash, password: newPassword } : null;
  return { username, password: secretOf('Password'), totpSecret, email, ssoEmail, reset };
}

async function readSecrets(asked: readonly string[], isStdin: boolean): Promise<string[]> {
  if (asked.length === 0) return [];
  if (!isStdin && !canAsk())
    throw failure('No terminal to ask for a password: --password-stdin reads it from standard input.');
  const given: string[] = [];
  if (isStdin) given.push(...(await readStdin('password')).split(/\r?\n/));
  else for (const name of asked) given.push((await askPassword(name, { once: true })).password);
  if (given.length !== asked.length || given.includes(''))
    throw failure(`Expected on standard input, one a line: ${asked.join(', ').toLowerCase()}.`);
  return given;
}

function noAnswer(base: URL, error: unknown): unknown {
  const { code, name } = error as NodeJS.ErrnoException;
  // A DOMException's code is a number.
  const why = name === 'TimeoutError' ? 'ETIMEDOUT' : code;
  return why === undefined ? error : failure(`${base.origin} does not answer (${why}).`, 'notAvailable');
}

function printFinding(finding: Finding): void {
  const { call, what } = finding;
  const more =
    finding.kind === 'differs'
      ? ` – expected ${finding.expected}, got ${finding.got}`
      : 'why' in finding
        ? ` – ${finding.why}`
        : '';
  printLine(`${finding.kind.padEnd(9)} – ${call} – ${what}${more}`);
}
