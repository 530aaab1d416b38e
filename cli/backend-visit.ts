import { request } from 'undici';
import { type Call, calls } from '#contract/calls.ts';
import { reasonOfSearch } from '#contract/reasons.ts';
import { queryNames, type Screen, screenOfPath } from '#contract/screens.ts';
import { second } from '#server/limits.ts';

/** How long a backend may take to answer a call that `vestibule conformance` tries. */
const conformanceAnswer = 10 * second;

/** What a backend answered. `location` is where a redirect leads; `json` is undefined if the body is none. */
export type Answer = {
  status: number;
  location: URL | null;
  json: unknown;
  setCookies: string[];
};

/** By a script of the page, by a form or link of it, or by another site's page. */
export type Sender = 'script' | 'page' | 'otherSite';

type Body = { form?: Record<string, string>; json?: unknown };

/** One browser at a backend: it keeps the cookies. */
export type BackendVisit = { send: (call: Call, by: Sender, body?: Body) => Promise<Answer> };

/**
 * A browser that has chosen a language: to one without any cookie a backend may say first that cookies are needed. `base` is the
 * address below which the calls lie. Throws if the backend does not answer.
 */
export function visitBackend(base: URL): BackendVisit {
  const cookies = new Map([['language', 'en']]);
  return {
    async send(call, by, { form, json } = {}) {
      const { method, path } = calls[call];
      const url = new URL(base.pathname + path, base);
      const body = form ? new URLSearchParams(form).toString() : json === undefined ? '' : JSON.stringify(json);
      const answer = await request(url, {
        method,
        headers: {
          ...headersBy(by, base, method),
          ...(body && { 'content-type': form ? 'application/x-www-form-urlencoded' : 'application/json' }),
          ...(cookies.size > 0 && { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') }),
        },
        body: method === 'POST' ? body : null,
        signal: AbortSignal.timeout(conformanceAnswer),
      });
      const text = await answer.body.text();
      const headers = (name: string) => [answer.headers[name] ?? []].flat();
      const setCookies = headers('set-cookie');
      for (const cookie of setCookies) keep(cookies, cookie);
      const [location] = headers('location');
      return {
        status: answer.statusCode,
        location: location === undefined ? null : URL.parse(location, url),
        json: parsed(text),
        setCookies,
      };
    },
  };
}

/** Sends a form in a browser of its own. */
export async function postForm(
  base: URL,
  call: Call,
  form: Record<string, string>,
  by: Sender = 'page',
): Promise<Answer> {
  return await visitBackend(base).send(call, by, { form });
}

/** What a browser says of itself. */
function headersBy(by: Sender, base: URL, method: string): Record<string, string> {
  const origin = by === 'otherSite' ? 'https://elsewhere.example' : base.origin;
  const isScript = by === 'script';
  return {
    'user-agent': 'vestibule conformance',
    accept: isScript ? 'application/json' : 'text/html',
    'accept-language': 'en',
    referer: `${origin}/`,
    'sec-fetch-site': by === 'otherSite' ? 'cross-site' : 'same-origin',
    'sec-fetch-mode': isScript ? 'cors' : 'navigate',
    'sec-fetch-dest': isScript ? 'empty' : 'document',
    ...(method === 'POST' && { origin }),
  };
}

function keep(cookies: Map<string, string>, cookie: string): void {
  const [pair = '', ...attributes] = cookie.split(';').map((part) => part.trim());
  const [name = '', ...value] = pair.split('=');
  const isOver = attributes.some((attribute) => /^max-age=(?:0|-\d+)$|^expires=.* 1970 /i.test(attribute));
  if (isOver) cookies.delete(name);
  else cookies.set(name, value.join('='));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export type Verdict =
  | { kind: 'passed' }
  | { kind: 'differs'; expected: string; got: string }
  | { kind: 'not tried'; why: string };

/** What came of one check. `call` is the method and path of specification §7. */
export type Finding = { call: string; what: string } & Verdict;

/** `missing` says why it cannot be tried, or is null. */
export async function check(
  call: Call,
  what: string,
  missing: string | null,
  run: () => Promise<Verdict>,
): Promise<Finding> {
  const verdict: Verdict = missing === null ? await run() : { kind: 'not tried', why: missing };
  return { call: `${calls[call].method} ${calls[call].path.slice(1)}`, what, ...verdict };
}

/** Where an answer leads: a screen with its query, another address of the backend, or another origin. */
export type Target = { screen: Screen; query: URLSearchParams } | { screen: null; isElsewhere: boolean };

/** Null if it is no redirect by 302 or 303: a browser repeats a form post at others. */
function targetOf({ status, location }: Answer, base: URL): Target | null {
  if (![302, 303].includes(status) || !location) return null;
  if (location.origin !== base.origin) return { screen: null, isElsewhere: true };
  const { pathname, search, hash } = location;
  if (pathname !== base.pathname && !pathname.startsWith(`${base.pathname}/`))
    return { screen: null, isElsewhere: false };
  // A screen may be named by its path or by its hash (specification §2).
  const [hashPath = '', hashQuery] = hash.slice(1).split('?');
  const named = hashPath.startsWith('/') ? screenOfPath(hashPath) : null;
  if (named && named.name !== 'notFound') return { screen: named, query: new URLSearchParams(hashQuery ?? search) };
  const screen = screenOfPath(pathname.slice(base.pathname.length));
  if (screen.name === 'notFound') return { screen: null, isElsewhere: false };
  return { screen, query: new URLSearchParams(search) };
}

/** Passed if `isKept`; otherwise it says what was expected and what came. */
export function judge(answer: Answer, base: URL, expected: string, isKept: boolean): Verdict {
  return isKept ? { kind: 'passed' } : { kind: 'differs', expected, got: inWords(answer, base) };
}

/** Passed if it is a redirect to a target that `isRight`. */
export function judgeTarget(
  answer: Answer,
  base: URL,
  expected: string,
  isRight: (target: Target) => boolean,
): Verdict {
  const target = targetOf(answer, base);
  return judge(answer, base, `303 (or 302) to ${expected}`, target !== null && isRight(target));
}

/** An answer in words, without anything that it may repeat of what it was sent. */
export function inWords(answer: Answer, base: URL): string {
  const { status, location, json } = answer;
  const target = targetOf(answer, base);
  if (!target) {
    if (location) return `${status} with a Location`;
    return `${status}${json === undefined ? '' : typeof json === 'boolean' ? ` ${json}` : ' with JSON'}`;
  }
  const { screen } = target;
  if (!screen) return `${status} to ${target.isElsewhere ? 'another origin' : 'an address that is no screen'}`;
  const name = screen.name === 'loginFail' ? `loginfail/${screen.type}` : screen.name;
  const reason = reasonOfSearch(`?${target.query}`);
  const isEmail = target.query.get(queryNames.codeSentViaEmail) === 'true';
  return `${status} to ${name}${reason === null ? '' : `?reason=${reason}`}${isEmail ? `?${queryNames.codeSentViaEmail}=true` : ''}`;
}

/** A browser after the right password; none was sent without an account. */
export async function signedIn(
  base: URL,
  { username, password }: { username: string | null; password: string | null },
): Promise<{ visit: BackendVisit; landing: Landing }> {
  const visit = visitBackend(base);
  if (username === null) return { visit, landing: 'refused' };
  const form = { username, password: password ?? '', redirectURL: base.pathname };
  return { visit, landing: landingOf(await visit.send('performLogin', 'page', { form }), base) };
}

/** What a right password leads to. */
export type Landing = 'destination' | 'app' | 'email' | 'registration' | 'refused';

export function landingOf(answer: Answer, base: URL): Landing {
  const target = targetOf(answer, base);
  if (!target) return 'refused';
  if (!target.screen || target.screen.name === 'login') return 'destination';
  const isEmail = target.query.get(queryNames.codeSentViaEmail) === 'true';
  if (target.screen.name === 'twoFactor') return isEmail ? 'email' : 'app';
  if (target.screen.name === 'twoFactorRegistration') return isEmail ? 'email' : 'registration';
  return 'refused';
}

/** The destination that the second factor carries on. */
export function carriedBy(answer: Answer, base: URL): string | null {
  const target = targetOf(answer, base);
  return target?.screen ? target.query.get(queryNames.redirectUrl) : null;
}

/** Passed if a script cannot read the cookie of the session, and no other site's form sends any. */
export function judgeCookies(answer: Answer, base: URL): Verdict {
  const has = (cookie: string, attribute: RegExp) => cookie.split(';').some((part) => attribute.test(part.trim()));
  const isGuarded = (cookie: string) =>
    has(cookie, /^samesite=(?:lax|strict)$/i) && (base.protocol === 'http:' || has(cookie, /^secure$/i));
  const { setCookies } = answer;
  const isKept = setCookies.some((cookie) => has(cookie, /^httponly$/i)) && setCookies.every(isGuarded);
  const expected = 'a cookie with HttpOnly, and SameSite=Lax or Strict and (over https) Secure on all of them';
  return isKept ? { kind: 'passed' } : { kind: 'differs', expected, got: `${setCookies.length} cookies, not all so` };
}
