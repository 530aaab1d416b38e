import type { CustomFetchOptions } from 'openid-client';
import { loopbackNames } from '../config.ts';
import { limits } from '../limits.ts';
import { failureOfRequest, ProviderFailure, placeOf } from './provider-failure.ts';

type ProviderRequest = Partial<Pick<CustomFetchOptions, 'method' | 'headers' | 'body'>>;

/** All that is asked of a provider for one page of ours. Each function throws a ProviderFailure. */
export type Conversation = {
  /** Ends when the time of all requests together is over. */
  signal: AbortSignal;
  /** An answer with any status, redirects among them: none is followed. */
  look: (url: string, request?: ProviderRequest) => Promise<Response>;
  /** An answer for a program: neither a redirect, nor a fault of the server, nor a web page. */
  ask: (url: string, request?: ProviderRequest) => Promise<Response>;
  /** What must be there: the status is 200. */
  read: (url: string, request?: ProviderRequest) => Promise<Response>;
};

/** Begins a conversation; from now on its time runs. */
export function openConversation(within: number = limits.providerAnswer): Conversation {
  const signal = AbortSignal.timeout(within);
  const look = (url: string, request: ProviderRequest = {}) => limitedFetch(url, request, signal);
  const ask = async (url: string, request?: ProviderRequest) => {
    const answer = await look(url, request);
    const isForUs = answer.status < 300 || (answer.status >= 400 && answer.status < 500);
    if (!isForUs) throw unexpected(url, statusWords(answer));
    if (answer.headers.get('content-type')?.startsWith('text/html')) throw unexpected(url, 'with a web page');
    return answer;
  };
  const read = async (url: string, request?: ProviderRequest) => {
    const answer = await look(url, request);
    if (answer.status !== 200) throw unexpected(url, statusWords(answer));
    return answer;
  };
  return { signal, look, ask, read };
}

function unexpected(url: string, words: string): ProviderFailure {
  return new ProviderFailure(`${placeOf(new URL(url))} answers ${words}`);
}

/** Whether we talk to an address, or send a visitor there: https, or this very machine. */
export function isProviderAddress(text: unknown): text is string {
  const url = typeof text === 'string' ? URL.parse(text) : null;
  if (!url || url.username || url.password) return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && loopbackNames.includes(url.hostname));
}

function statusWords({ status }: Response): string {
  return status >= 300 && status < 400 ? `${status}, a redirect, which is not followed` : String(status);
}

/** One request, read to its end here, so that nothing behind it meets an endless body or one that never comes. */
async function limitedFetch(
  address: string,
  { method = 'GET', headers: asked = {}, body: sent = null }: ProviderRequest,
  signal: AbortSignal,
): Promise<Response> {
  if (!isProviderAddress(address)) throw new ProviderFailure('an address of the provider is not https');
  const url = new URL(address);
  try {
    const answer = await fetch(url, { method, headers: asked, body: sent, redirect: 'manual', signal });
    if (answer.status > 599) throw new ProviderFailure(`${placeOf(url)} answers ${answer.status}`);
    const body = await limitedBody(answer, url);
    const headers = new Headers({ 'content-type': answer.headers.get('content-type') ?? '' });
    for (const name of ['location', 'www-authenticate']) {
      const value = answer.headers.get(name);
      if (value !== null) headers.set(name, value);
    }
    return new Response(body.length > 0 ? body : null, { status: answer.status, headers });
  } catch (error) {
    throw failureOfRequest(error, url);
  }
}

/** The body unpacked, chunk by chunk: a small one that unpacks to a large one is let go of at the limit. */
async function limitedBody(answer: Response, url: URL): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of answer.body ?? []) {
    length += chunk.length;
    if (length > limits.providerBytes) {
      throw new ProviderFailure(`${placeOf(url)} answers with more than ${limits.providerBytes / 1024} KiB`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
