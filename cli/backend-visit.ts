import { request } from 'undici';
import { type Call, calls } from '#contract/calls.ts';
import { reasonOfSearch } from '#contract/reasons.ts';
import { queryNames, type Screen, screenOfPath } from '#contract/screens.ts';
import { second } from '#server/limits.ts';

/** How long a backend may take to answer a call that `vestibule conformance` tries. */
const answerWithin = 10 * second;

/** What a backend answered. `json` is undefined if the body is none. */
export type Answer = {
  status: number;
  /** Where a redirect leads. */
  location: URL | null;
  /** What that is for a browser that posted a form; null if it would repeat the post there, or go nowhere. */
  target: Target | null;
  json: unknown;
  setCookies: string[];
};

/** A screen with its query, or another address: of the backend, or elsewhere. */
export type Target = { screen: Screen | null; query: URLSearchParams; isElsewhere: boolean };

/** By a script of the page, by a form or link of it, or by another site's page. */
export type Sender = 'script' | 'page' | 'otherSite';

type Body = { form?: Record<string, string>; json?: unknown };

/** One browser at a backend: it keeps the cookies. */
type BackendVisit = { send: (call: Call, by: Sender, body?: Body) => Promise<Answer> };

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
      const body = form ? new URLSearchParams(form).toString() : JSON.stringify(json);
      const { statusCode, headers, ...answer } = await request(url, {
        method,
        headers: {
          ...headersBy(by, base, method),
          ...(body && { 'content-type': form ? 'application/x-www-form-urlencoded' : 'application/json' }),
          cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        },
        body: method === 'POST' ? (body ?? '') : null,
        signal: AbortSignal.timeout(answerWithin),
      });
      const text = await answer.body.text();
      const setCookies = [headers['set-cookie'] ?? []].flat();
      for (const cookie of setCookies) keep(cookies, cookie);
      const [to] = [headers.location ?? []].flat();
      const location = to === undefined ? null : URL.parse(to, url);
      const target = location && [302, 303].includes(statusCode) ? targetOf(location, base) : null;
      return { status: statusCode, location, target, json: parsed(text), setCookies };
    },
  };
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

/** A screen may be named by its path or by its hash (specification §2). */
export function targetOf({ origin, pathname, search, hash }: URL, base: URL): Target {
  const [hashPath = '', hashQuery = search] = hash.slice(1).split('?');
  const isBelow = pathname === base.pathname || pathname.startsWith(`${base.pathname}/`);
  const named = [
    { path: hashPath, query: hashQuery },
    { path: pathname.slice(base.pathname.length), query: search },
  ].find(({ path }, index) => (index === 1 || path.startsWith('/')) && screenOfPath(path).name !== 'notFound');
  const screen = origin === base.origin && isBelow && named ? screenOfPath(named.path) : null;
  return { screen, query: new URLSearchParams(named?.query), isElsewhere: origin !== base.origin };
}

export type Verdict =
  | { kind: 'passed' }
  | { kind: 'differs'; expected: string; got: string }
  | { kind: 'not tried'; why: string };

/** Passed if `isKept`; otherwise it says what was expected and what came. */
export function judge(answer: Answer, expected: string, isKept: boolean): Verdict {
  return isKept ? { kind: 'passed' } : { kind: 'differs', expected, got: inWords(answer) };
}

/** Passed if it is a redirect to a target that `isRight`. */
export function judgeTarget(answer: Answer, expected: string, isRight: (target: Target) => boolean): Verdict {
  return judge(answer, `303 (or 302) to ${expected}`, answer.target !== null && isRight(answer.target));
}

/** Passed if a script cannot read the cookie of the session, and no other site's form sends any. */
export function judgeCookies({ setCookies }: Answer, { protocol }: URL): Verdict {
  const has = (cookie: string, attribute: RegExp) => cookie.split(';').some((part) => attribute.test(part.trim()));
  const isGuarded = (cookie: string) =>
    has(cookie, /^samesite=(?:lax|strict)$/i) && (protocol === 'http:' || has(cookie, /^secure$/i));
  const isKept = setCookies.some((cookie) => has(cookie, /^httponly$/i)) && setCookies.every(isGuarded);
  const expected = 'a cookie with HttpOnly, and SameSite=Lax or Strict and (over https) Secure on all of them';
  return isKept ? { kind: 'passed' } : { kind: 'differs', expected, got: `${setCookies.length} cookies, not all so` };
}

/** An answer in words, without anything that it may repeat of what it was sent. */
function inWords({ status, location, target, json }: Answer): string {
  if (target) return `${status} to ${targetInWords(target)}`;
  if (location) return `${status} with a Location`;
  return `${status}${json === undefined ? '' : typeof json === 'boolean' ? ` ${json}` : ' with JSON'}`;
}

export function targetInWords({ screen, query, isElsewhere }: Target): string {
  if (!screen) return isElsewhere ? 'another origin' : 'an address that is no screen';
  const name = screen.name === 'loginFail' ? `loginfail/${screen.type}` : screen.name;
  const reason = reasonOfSearch(`?${query}`);
  const isEmail = query.get(queryNames.codeSentViaEmail) === 'true';
  return `${name}${reason === null ? '' : `?reason=${reason}`}${isEmail ? `?${queryNames.codeSentViaEmail}=true` : ''}`;
}

/** What a right password leads to. */
type Landing = 'destination' | 'app' | 'email' | 'registration' | 'refused';

export function landingOf({ target }: Answer): Landing {
  if (!target) return 'refused';
  const { screen, query } = target;
  if (!screen || screen.name === 'login') return 'destination';
  const isEmail = query.get(queryNames.codeSentViaEmail) === 'true';
  if (screen.name === 'twoFactor') return isEmail ? 'email' : 'app';
  if (screen.name === 'twoFactorRegistration') return isEmail ? 'email' : 'registration';
  return 'refused';
}
