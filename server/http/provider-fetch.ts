import { type LookupAddress, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import type { CustomFetchOptions } from 'openid-client';
import type { Agent, Response as Answer } from 'undici';
import { canonicalIpAddress } from '#contract/addresses.ts';
import { isProviderAddress } from '../config/public-url.ts';
import { limits } from '../limits.ts';
import { familyOf, parseNetworkList } from '../names/network.ts';

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

/** What of a failure decides what an operator can do about it. */
export type FailureKind = 'silent' | 'certificate' | 'tls' | 'other';

/** A provider did not answer, or answered wrongly: in words for the operator. */
export class ProviderFailure extends Error {
  readonly kind: FailureKind;
  constructor(words: string, kind: FailureKind = 'other') {
    super(words);
    this.kind = kind;
  }
}

/** The connection must be changed: its provider is elsewhere, or is not as the operator configured it. */
export class ConnectionBroken extends ProviderFailure {}

/** A provider, or an address it names, is in a network not listed for the connection. */
export class NetworkNotListed extends ConnectionBroken {
  readonly addresses: readonly string[];
  constructor(host: string, addresses: readonly string[]) {
    const at = addresses.length === 1 && addresses[0] === host ? '' : ` (${addresses.join(', ')})`;
    super(
      `${host}${at} is neither in a public network nor in one of the connection's: add it with "vestibule connection set --provider-network <cidr>" if the provider belongs there`,
    );
    this.addresses = addresses;
  }
}

/** The failure of a request without an answer. Rethrows errors that are not the network's. */
export function failureOfRequest(error: unknown, url: URL): ProviderFailure {
  if (error instanceof ProviderFailure) return error;
  if (error instanceof TypeError && error.cause instanceof ProviderFailure) return error.cause;
  const code = codeOf(error);
  const isOutOfTime = error instanceof DOMException && (error.name === 'TimeoutError' || error.name === 'AbortError');
  if (isOutOfTime) return new ProviderFailure(`${placeOf(url)} did not answer in time`, 'silent');
  if (code === null) throw error;
  const [words, kind] = whatHappened(code);
  return new ProviderFailure(`${placeOf(url)} ${words} (${code})`, kind);
}

function placeOf({ origin, pathname }: URL): string {
  return origin + pathname;
}

/** `fetch` throws a TypeError whose cause is an error of the system, of OpenSSL, of zlib or of the HTTP client. */
function codeOf(error: unknown): string | null {
  const cause = error instanceof TypeError ? error.cause : null;
  if (!(cause instanceof Error)) return null;
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message;
}

function whatHappened(code: string): [words: string, kind?: FailureKind] {
  if (/^(?:ENOTFOUND|EAI_)/.test(code)) return ['has a name that cannot be resolved'];
  if (/CERT|ISSUER|SIGNATURE|ALTNAME/.test(code)) return ['has a certificate that is not trusted here', 'certificate'];
  if (/^(?:EPROTO|ERR_SSL|ERR_TLS)/.test(code)) return ['failed the TLS handshake', 'tls'];
  if (/^(?:ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|UND_ERR_CONNECT|bad port)/.test(code))
    return ['cannot be reached'];
  if (/^(?:Z_|ERR_BROTLI|ZSTD)/.test(code)) return ['sent data that cannot be decompressed'];
  return ['broke the connection'];
}

/** IPv4 networks outside the public internet (RFC 6890): this host, private, link-local, test, multicast. */
const notPublic = parseNetworkList([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.168.0.0/16', '198.18.0.0/15', '224.0.0.0/4', '240.0.0.0/4'],
  // IPv6 networks that embed IPv4 addresses: Teredo and 6to4.
  ...['2001::/32', '2002::/16'],
]).networks;

/** Contains all public IPv6, and no translated IPv4 (64:ff9b::/96), link-local or loopback addresses. */
const publicIpv6 = parseNetworkList(['2000::/3']).networks;

/** Whether requests may go to an address: it is public, or the operator listed its network for the connection. */
export function mayReach(address: string, listed: readonly string[]): boolean {
  // A zone names the link, which the address already implies.
  const canonical = canonicalIpAddress(address.replace(/%.*$/, ''));
  if (canonical === null) return false;
  const family = familyOf(canonical);
  if (parseNetworkList(listed).networks.check(canonical, family)) return true;
  return !notPublic.check(canonical, family) && (family === 'ipv4' || publicIpv6.check(canonical, family));
}

/** Why a URL is refused, if its host shows that without a lookup; null otherwise. */
export function refusedByHost({ hostname }: URL, listed: readonly string[]): NetworkNotListed | null {
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const addresses = /(?:^|\.)localhost$/.test(host) ? ['127.0.0.1', '::1'] : isIP(host) === 0 ? null : [host];
  if (!addresses || addresses.some((address) => mayReach(address, listed))) return null;
  return new NetworkNotListed(host, addresses);
}

/**
 * Looks up a host for `connect` and returns only the allowed addresses: the address connected to is the one checked,
 * whatever the name resolves to a moment later.
 */
export function lookupWithin(listed: readonly string[], lookUp: typeof lookup = lookup): LookupFunction {
  return (hostname, options, callback) =>
    lookUp(hostname, { ...options, all: true }, (error: Error | null, found: LookupAddress[]) => {
      if (error) return callback(error, []);
      const good = found.filter(({ address }) => mayReach(address, listed));
      const [first] = good;
      const addresses = found.map(({ address }) => address);
      if (!first) return callback(new NetworkNotListed(hostname, addresses), []);
      if (options.all) callback(null, good);
      else callback(null, first.address, first.family);
    });
}
