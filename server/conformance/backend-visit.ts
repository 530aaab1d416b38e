import { request } from 'undici';
import { type Call, calls } from '#contract/calls.ts';
import { limits } from '../limits.ts';

/**
 * What a backend answered. `location` is where a redirect leads; `json` is undefined if the body is none; `clears` is
 * Clear-Site-Data.
 */
export type Answer = { status: number; location: URL | null; json: unknown; setCookies: string[]; clears: string };

export type Sending = {
  form?: Record<string, string>;
  json?: unknown;
  /** By a script of the page, by a form or link of it, or by another site's page. */
  by?: 'script' | 'page' | 'otherSite';
};

/** One browser at a backend: it keeps the cookies. `base` is the address below which the calls lie. */
export type BackendVisit = { send: (call: Call, sending?: Sending) => Promise<Answer> };

const elsewhere = 'https://elsewhere.example';

/** A browser without cookies. Its calls throw if the backend does not answer, or does not come to an end. */
export function visitBackend(base: URL): BackendVisit {
  const cookies = new Map<string, string>();

  async function send(call: Call, { form, json, by = 'page' }: Sending = {}): Promise<Answer> {
    const { method, path } = calls[call];
    const url = new URL(base.pathname + path, base);
    const body = form ? new URLSearchParams(form).toString() : json === undefined ? undefined : JSON.stringify(json);
    const type = form ? 'application/x-www-form-urlencoded' : 'application/json';
    const answer = await request(url, {
      method,
      headers: {
        ...headersBy(by, base, method),
        ...(body !== undefined && { 'content-type': type }),
        ...(cookies.size > 0 && { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') }),
      },
      body: body ?? (method === 'POST' ? '' : null),
      signal: AbortSignal.timeout(limits.conformanceAnswer),
    });
    const text = await readText(answer.body);
    const setCookies = [answer.headers['set-cookie'] ?? []].flat();
    for (const cookie of setCookies) keep(cookies, cookie);
    const location = [answer.headers.location ?? []].flat()[0];
    return {
      status: answer.statusCode,
      location: location === undefined ? null : URL.parse(location, url),
      json: parsed(text),
      setCookies,
      clears: [answer.headers['clear-site-data'] ?? []].flat().join(),
    };
  }

  return { send };
}

/** Nothing if it is longer than an answer to any call. */
async function readText(body: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of body) {
    length += part.length;
    if (length > limits.conformanceBytes) return '';
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

/** What a browser says of itself. */
function headersBy(by: Sending['by'], base: URL, method: string): Record<string, string> {
  const origin = by === 'otherSite' ? elsewhere : base.origin;
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
