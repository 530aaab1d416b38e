import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { placeholderWarning } from '#server/config/config.ts';
import { loopbackNames } from '#server/config/public-url.ts';
import type { Account, Finding } from './conformance-checks.ts';
import { repeatable } from './options.ts';
import { exitCodes, failure, printJson, printLine } from './print.ts';
import { loadConfig } from './with-database.ts';

type Flags = { provider?: string[]; json?: true };

/** `vestibule pages` */
export function addPagesCommand(program: Command): void {
  program
    .command('pages <folder>')
    .description("write all screens as static files, to be put in front of a backend that isn't this server")
    .addOption(repeatable('--provider <origin>', 'an origin that the backend redirects the sign-in forms to'))
    .option('--json', 'print what was written as JSON')
    .addHelpText('after', '\nHow a web server serves them: deploy/nginx/pages-only.conf and docs/branding.md.')
    .action(runPages);
}

async function runPages(folder: string, { provider = [], json }: Flags) {
  const origins = provider.map(readOrigin);
  const path = resolve(folder);
  const config = loadConfig();
  const { isOurs, staticFiles, writeFolder } = await import('#server/pages/static-files.ts');
  if (!(await isOurs(path).catch(cannotWrite))) throw failure(`${path} holds files that are not ours.`);
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

type ConformanceFlags = { account?: string; json?: true };

/** `vestibule conformance` */
export function addConformanceCommand(program: Command): void {
  program
    .command('conformance <url>')
    .description('try whether a backend keeps the calls of the pages, and print what differs')
    .option('--account <file>', 'JSON with what is known of a test account; - reads standard input')
    .option('--json', 'print the checks as JSON: {call, what, kind}, and expected and got, or why')
    .addHelpText(
      'after',
      `
The account, of which everything may be left out:
  {"username": "test", "password": "…", "totpSecret": "…", "email": "…", "ssoEmail": "…",
   "resetLink": "https://…", "newPassword": "…"}

email is sent a reset link; resetLink sets newPassword. The exit code is 0 if nothing differs. See docs/branding.md.`,
    )
    .action(runConformance);
}

async function runConformance(url: string, { account, json }: ConformanceFlags): Promise<void> {
  const base = readBase(url);
  const known = account === undefined ? {} : await readAccount(account);
  // Code that other commands don't need is loaded on demand.
  const { conformanceChecks } = await import('./conformance-checks.ts');
  const findings: Finding[] = [];
  try {
    for await (const finding of conformanceChecks(base, known, () => new Date())) {
      findings.push(finding);
      if (!json) printFinding(finding);
    }
  } catch (error) {
    throw noAnswer(base, error);
  }
  const count = (kind: Finding['kind']) => findings.filter((finding) => finding.kind === kind).length;
  if (json) printJson(findings);
  else printLine(`\n${count('passed')} passed, ${count('differs')} differ, ${count('not tried')} not tried.`);
  process.exitCode = count('differs') > 0 ? exitCodes.refused : exitCodes.done;
}

function readBase(given: string): URL {
  const url = URL.parse(given);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.search || url.hash)
    throw failure(`${JSON.stringify(given)} is not an address such as https://hub.example.com/portal`);
  if (url.protocol === 'http:' && !loopbackNames.includes(url.hostname))
    throw failure('The address must be https, since a password is sent there; plain http is for this machine only.');
  url.pathname = url.pathname === '/' ? '/portal' : url.pathname.replace(/\/$/, '');
  return url;
}

async function readAccount(path: string): Promise<Account> {
  try {
    const account: unknown = JSON.parse(path === '-' ? await text(process.stdin) : await readFile(path, 'utf8'));
    if (account && Object.values(account).every((value) => typeof value === 'string')) return account as Account;
  } catch (error) {
    if (!(error instanceof SyntaxError))
      throw failure(`--account: ${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
  throw failure(`--account: ${path} is no JSON object of texts.`);
}

function noAnswer(base: URL, error: unknown): unknown {
  const { code, name } = error as NodeJS.ErrnoException;
  // A DOMException's code is a number.
  const why = name === 'TimeoutError' ? 'ETIMEDOUT' : code;
  return why === undefined ? error : failure(`${base.origin} does not answer (${why}).`, 'notAvailable');
}

function printFinding(finding: Finding): void {
  const { kind, call, what } = finding;
  const more = kind === 'differs' ? ` – expected ${finding.expected}, got ${finding.got}` : '';
  printLine(`${kind.padEnd(9)} – ${call} – ${what}${kind === 'not tried' ? ` – ${finding.why}` : more}`);
}
