import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { request } from 'undici';
import { type Call, calls } from '#contract/calls.ts';
import { reasonOfSearch } from '#contract/reasons.ts';
import { screenOfPath } from '#contract/screens.ts';
import { loopbackNames } from '#server/config/public-url.ts';
import { readTextFile } from '#server/config/read-text-file.ts';
import { second } from '#server/limits.ts';
import type { Reading } from '#server/names/read-name.ts';
import { optionOf } from './options.ts';
import { exitCodes, failure, printJson, printLine } from './print.ts';

type Account = { username?: string; password?: string };

/** What a browser sends; `by`: a form or link of the pages (the default), their script, or another site's form. */
type Sent = { by?: 'script' | 'otherSite'; form?: Record<string, string>; json?: string };

/** A call and what it may be answered by, in the words of `traitsOf`. */
type Check = [call: Call, what: string, sent: Sent, expected: string[]];

/** `vestibule conformance` */
export function addConformanceCommand(program: Command): void {
  program
    .command('conformance <url>')
    .description('try whether a backend keeps the calls of the pages, and print what differs')
    .addOption(optionOf('--account <file>', 'JSON with username and password of a test account', readAccount))
    .option('--json', 'print the checks as JSON: {call, what, ok, expected, got}')
    .addHelpText('after', '\nThe exit code is 0 if nothing differs. See docs/branding.md.')
    .action(runConformance);
}

async function runConformance(url: string, { account = {}, json }: { account?: Account; json?: true }): Promise<void> {
  const base = readBase(url);
  const findings = [];
  for (const [call, what, sent, expected] of checksOf(base, account)) {
    const got = await answerTo(base, call, sent);
    const finding = { call: `${calls[call].method} ${calls[call].path}`, what, expected, got };
    const ok = expected.some((trait) => got.includes(trait));
    findings.push({ ...finding, ok });
    const more = ok ? '' : ` – expected ${expected.join(' or ')}, got ${got.join(', ')}`;
    if (!json) printLine(`${ok ? 'passed ' : 'differs'} – ${finding.call} – ${what}${more}`);
  }
  if (json) printJson(findings);
  process.exitCode = findings.every(({ ok }) => ok) ? exitCodes.done : exitCodes.refused;
}

/** Each call of specification §7 once, and what protects a sign-in. */
function checksOf({ pathname }: URL, { username, password = '' }: Account): Check[] {
  const made = `${randomBytes(12).toString('base64url')}-9!Aa`;
  const nobody = { username: `nobody-${made}@unknown.invalid`, password: made, repeat: made, redirectURL: pathname };
  const checks: Check[] = [
    ['performLogin', 'a wrong password', { form: nobody }, ['to loginfail/default']],
    ['performLogin', 'a form of another site', { form: nobody, by: 'otherSite' }, ['4xx']],
    [
      'checkSsoLogin',
      'a new browser',
      { form: { redirectURLSSO: pathname } },
      ['to singleSignOn', 'to another page', 'to another origin'],
    ],
    ['performSsoLogin', 'an unknown domain', { form: nobody }, ['to loginfail/oidc', 'to loginfail/saml']],
    ['passwordForgotten', 'an unknown address', { form: nobody, by: 'script' }, ['2xx', '3xx']],
    [
      'passwordChange',
      'an unknown link',
      { form: { ...nobody, hash: made } },
      ['to forgottenChangeFailedInfo?reason=4'],
    ],
    ['twoFactorRegistration', 'without a sign-in', { by: 'script' }, ['4xx', '3xx']],
    ['twoFactorVerify', 'without a sign-in', { json: '000000', by: 'script' }, ['4xx', '3xx', 'falsy JSON']],
    ['logout', 'by a link', {}, ['to login']],
  ];
  if (username === undefined) return checks;
  const right = (redirectURL: string) => ({ form: { username, password, redirectURL } });
  const asked = ['to another page', 'to twoFactor', 'to twoFactorRegistration'];
  return [
    ...checks,
    ['performLogin', 'the right password', right(`${pathname}/portal.html`), asked],
    ['performLogin', 'a destination elsewhere', right('https://elsewhere.example/'), [...asked, 'to login']],
    [
      'performLogin',
      'its cookies: HttpOnly, SameSite=Lax or Strict, Secure over https',
      right(pathname),
      ['safe cookies'],
    ],
  ];
}

/** What is to say of the answer to a call; it repeats nothing of what was sent. */
async function answerTo(base: URL, call: Call, { by, form, json }: Sent): Promise<string[]> {
  const { method, path } = calls[call];
  const origin = by === 'otherSite' ? 'https://elsewhere.example' : base.origin;
  const url = new URL(base.pathname + path, base);
  const answer = await request(url, {
    method,
    headers: {
      accept: by === 'script' ? 'application/json' : 'text/html',
      // Of a browser that has chosen a language: without any cookie it may be told that cookies are needed.
      cookie: 'language=en',
      'content-type': json ? 'application/json' : 'application/x-www-form-urlencoded',
      'sec-fetch-site': by === 'otherSite' ? 'cross-site' : 'same-origin',
      ...(method === 'POST' && { origin }),
    },
    body: method === 'GET' ? null : json ? JSON.stringify(json) : new URLSearchParams(form).toString(),
    signal: AbortSignal.timeout(10 * second),
  }).catch(({ name, code, message }: NodeJS.ErrnoException) => {
    const why = name === 'TimeoutError' ? 'ETIMEDOUT' : (code ?? message);
    throw failure(`${base.origin} does not answer (${why}).`, 'notAvailable');
  });
  const { statusCode: status, headers } = answer;
  const isFalsy = /^(?:false|null|0|"")$/.test((await answer.body.text()).trim());
  const location = [302, 303].includes(status) ? URL.parse(String(headers.location), url) : null;
  return [
    ...[String(status), `${String(status)[0]}xx`],
    ...(location ? [`to ${targetOf(location, base)}`] : []),
    ...(status === 200 && isFalsy ? ['falsy JSON'] : []),
    ...(areSafe([headers['set-cookie'] ?? []].flat(), base) ? ['safe cookies'] : []),
  ];
}

/** A screen may be named by its path or by its hash (specification §2). */
function targetOf({ origin, pathname, search, hash }: URL, base: URL): string {
  if (origin !== base.origin) return 'another origin';
  const below = pathname.startsWith(base.pathname) ? pathname.slice(base.pathname.length) : '/elsewhere';
  const [path = '', query = ''] = hash.startsWith('#/') ? hash.slice(1).split('?') : [below, search];
  const screen = screenOfPath(path);
  if (screen.name === 'notFound') return 'another page';
  const reason = reasonOfSearch(`?${query.replace(/^\?/, '')}`);
  return `${screen.name === 'loginFail' ? `loginfail/${screen.type}` : screen.name}${reason ? `?reason=${reason}` : ''}`;
}

/** Whether a script cannot read the cookie of the session, and no other site's form sends any. */
function areSafe(cookies: readonly string[], { protocol }: URL): boolean {
  const isGuarded = (cookie: string) =>
    /; *samesite=(?:lax|strict)/i.test(cookie) && (protocol === 'http:' || /; *secure/i.test(cookie));
  return cookies.some((cookie) => /; *httponly/i.test(cookie)) && cookies.every(isGuarded);
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

function readAccount(path: string): Reading<Account> {
  const text = readTextFile(path);
  if (text.kind === 'refused') return text;
  try {
    return { kind: 'ok', value: JSON.parse(text.value) };
  } catch {
    return { kind: 'refused', problem: `${path} is not JSON` };
  }
}
