import type { BlockList } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { canonicalIpAddress } from '#contract/addresses.ts';
import { insertAuditEvent } from '../audit/audit-event.ts';
import type { Config } from '../config/config.ts';
import type { Deps } from '../deps.ts';
import { day } from '../limits.ts';
import { familyOf } from '../names/network.ts';
import { mayReach } from './provider-fetch.ts';

/**
 * The client's address in canonical form: the socket's or, behind trusted proxies, the rightmost entry
 * of X-Forwarded-For that no trusted proxy wrote. Null if it is uncertain: an entry does not parse, or a trusted proxy
 * sent no header. Null means refuse, never skip.
 */
export function clientAddress(
  socketAddress: string | undefined,
  forwardedFor: string | string[] | undefined,
  trustedProxies: BlockList,
): string | null {
  const peer = addressIn(socketAddress ?? '');
  if (!peer || !isTrusted(peer, trustedProxies)) return peer;
  const entries = [forwardedFor ?? []]
    .flat()
    .join(',')
    .split(',')
    .map((entry) => entry.trim())
    // RFC 9110 §5.6.1: an empty element of a list counts for nothing.
    .filter(Boolean);
  for (const entry of entries.reverse()) {
    const address = addressIn(entry);
    if (!address || !isTrusted(address, trustedProxies)) return address;
  }
  return addressIn(entries.at(-1) ?? '');
}

/** The address in what gateways write: Azure's and IIS's add the port, others brackets; a socket's may have a zone. */
function addressIn(entry: string): string | null {
  const plain = entry
    .replace(/^([\d.]+):\d{1,5}$/, '$1')
    .replace(/^\[(.*)\](?::\d{1,5})?$/, '$1')
    .replace(/^([\da-f:.]*:[\da-f:.]*)%[\w.-]+$/i, '$1');
  return canonicalIpAddress(plain);
}

function isTrusted(address: string, trustedProxies: BlockList): boolean {
  return trustedProxies.check(address, familyOf(address));
}

/** Whether a socket's address is a trusted proxy's. */
export function isTrustedProxy(socketAddress: string | undefined, trustedProxies: BlockList): boolean {
  const peer = addressIn(socketAddress ?? '');
  return peer !== null && isTrusted(peer, trustedProxies);
}

const proxyHeaders = ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host', 'x-forwarded-uri'];

/**
 * Notices, once a day, a reverse proxy that the operator forgot to list: all visitors seem to have its address, and nobody is
 * led to sign in. From the public internet these headers are anybody's; proxies stand nearer.
 */
export function forgottenProxyNotice({ config, log, sql, now }: Deps): (request: FastifyRequest) => void {
  let again = 0;
  return function notice({ headers, socket, id: requestId }) {
    if (!proxyHeaders.some((name) => headers[name] !== undefined) || now().getTime() < again) return;
    const address = addressIn(socket.remoteAddress ?? '');
    if (!address || isTrusted(address, config.trustedProxies) || mayReach(address, [])) return;
    again = now().getTime() + day;
    log.warn(forgottenProxy(address, config));
    insertAuditEvent(sql, { event: 'proxy-not-trusted', address, requestId }, now()).catch((error: unknown) =>
      log.error({ err: error }, 'a proxy that is not trusted could not be recorded'),
    );
  };
}

/** What an operator does about a proxy that is not trusted. */
export function forgottenProxy(address: string, { trustedProxies }: Pick<Config, 'trustedProxies'>): string {
  const line =
    trustedProxies.rules.length === 0 ? `"trustedProxies": ["${address}"]` : `"${address}" to "trustedProxies"`;
  return `${address} sends X-Forwarded headers and is not trusted, so all visitors behind it seem to have its address – if it is your reverse proxy, add ${line} in the configuration file, and restart`;
}
