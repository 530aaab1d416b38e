import { request } from 'undici';
import { type Call, calls } from '#contract/calls.ts';
import { second } from '#server/limits.ts';

/** How long a backend may take to answer a call that `vestibule conformance` tries. */
const conformanceAnswer = 10 * second;

/** What a backend answered. `location` is where a redirect leads; `json` is undefined if the body is none. */
export type Answer = {
  status: number;
  location: URL | null;
  json: unknown;
  setCookies: string[];
  clearSiteData: string;
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
        clearSiteData: headers('clear-site-data').join(),
      };
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
