import type { Command } from 'commander';
import { loopbackNames } from '#server/config/public-url.ts';
import { askPassword, canAsk, readStdin } from './ask.ts';
import type { Account, Finding } from './conformance-checks.ts';
import { exitCodes, failure } from './failure.ts';
import { printJson, printLine } from './print.ts';

type Flags = {
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

async function runConformance(url: string, flags: Flags): Promise<void> {
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
  else {
    const advised = count('advised') > 0 ? `, ${count('advised')} advised` : '';
    printLine(`\n${count('passed')} passed, ${count('differs')} differ, ${count('not tried')} not tried${advised}.`);
  }
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

async function readAccount(flags: Flags): Promise<Account> {
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
