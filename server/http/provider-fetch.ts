import type { CustomFetchOptions } from 'openid-client';
import type { Agent, Response as Answer } from 'undici';
import { loopbackNames } from '../config/loopback-names.ts';
import { limits } from '../limits.ts';
import { failureOfRequest, ProviderFailure, placeOf } from './provider-failure.ts';
import { lookupWithin, refusedByHost } from './provider-networks.ts';

type ProviderRequest = Partial<Pick<CustomFetchOptions, 'method' | 'headers' | 'body'>>;
type Ask = (url: string, request?: ProviderRequest) => Promise<Response>;

/** Requests to a provider. Each throws a ProviderFailure, if only because the answer takes too long. */
export type Conversation = {
  /** An answer with any status; redirects are not followed. */
  look: Ask;
  /** An answer for programs: no redirect, server error or web page. */
  ask: Ask;
  /** Like `ask`, with status 200. */
  read: Ask;
};

/** Requests to a provider that may be in `networks` besides the public ones. */
export function openConversation(networks: readonly string[], within: number = limits.providerAnswer): Conversation {
  const look: Ask = (url, request = {}) => limitedFetch(url, request, { networks, within });
  const ask: Ask = async (url, request) => {
    const answer = await look(url, request);
    const isForUs = answer.status < 300 || (answer.status >= 400 && answer.status < 500);
    if (!isForUs) throw unexpected(url, statusWords(answer));
    if (answer.headers.get('content-type')?.startsWith('text/html')) throw unexpected(url, 'with a web page');
    return answer;
  };
  const read: Ask = async (url, request) => {
    const answer = await look(url, request);
    if (answer.status !== 200) throw unexpected(url, statusWords(answer));
    return answer;
  };
  return { look, ask, read };
}

function unexpected(url: string, words: string): ProviderFailure {
  return new ProviderFailure(`${placeOf(new URL(url))} answers ${words}`);
}

/** Whether we talk to an address, or send visitors there: https, or this machine. */
export function isProviderAddress(text: unknown): text is string {
  const url = typeof text === 'string' ? URL.parse(text) : null;
  if (!url || url.username || url.password) return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && loopbackNames.includes(url.hostname));
}

function statusWords({ status }: Response): string {
  return status >= 300 && status < 400 ? `${status}, a redirect, which is not followed` : String(status);
}

const agents = new Map<string, Agent>();

/** Sockets are reused only within the same list of networks: another may not allow them. */
function agentOf({ Agent }: typeof import('undici'), networks: readonly string[]): Agent {
  const key = networks.join(' ');
  const agent = agents.get(key) ?? new Agent({ connect: { lookup: lookupWithin(networks) } });
  agents.set(key, agent);
  return agent;
}

/** Reads a response to its end, so that callers never meet an endless or stalled body. */
async function limitedFetch(
  address: string,
  { method = 'GET', headers: asked = {}, body = null }: ProviderRequest,
  { networks, within }: { networks: readonly string[]; within: number },
): Promise<Response> {
  if (!isProviderAddress(address)) throw new ProviderFailure('an address of the provider is not https');
  const url = new URL(address);
  const refused = refusedByHost(url, networks);
  if (refused) throw refused;
  // Loaded only now, as most commands and the start of the server ask no provider.
  const undici = await import('undici');
  const dispatcher = agentOf(undici, networks);
  const signal = AbortSignal.timeout(within);
  try {
    const answer = await undici.fetch(url, { method, headers: asked, body, redirect: 'manual', signal, dispatcher });
    if (answer.status > 599) throw new ProviderFailure(`${placeOf(url)} answers ${answer.status}`);
    const whole = await limitedBody(answer, url);
    const headers = new Headers({ 'content-type': answer.headers.get('content-type') ?? '' });
    for (const name of ['location', 'www-authenticate']) {
      const value = answer.headers.get(name);
      if (value !== null) headers.set(name, value);
    }
    return new Response(whole.length > 0 ? whole : null, { status: answer.status, headers });
  } catch (error) {
    throw failureOfRequest(error, url);
  }
}

/** Unpacks the body chunk by chunk: one that unpacks beyond the limit is dropped. */
async function limitedBody(answer: Answer, url: URL): Promise<Uint8Array<ArrayBuffer>> {
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
