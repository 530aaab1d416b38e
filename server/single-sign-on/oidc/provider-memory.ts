import type { FastifyBaseLogger } from 'fastify';
import type { ServerMetadata } from 'openid-client';
import type { Conversation, KeySet, ProviderMemory } from '../../deps/provider-memory.ts';
import { limits, second } from '../../limits.ts';
import { openConversation } from '../provider-fetch.ts';
import { type Kept, keepFresh } from './keep-fresh.ts';
import { readDiscovery, readKeys } from './read-provider.ts';

/** Providers whose data one process caches. */
const providersRemembered = 1000;

/** Share of that for optional requests, which have an older answer or an alternative. */
export const providerPatience = 2 * second;

/** `answerWithin` and `patience` are for tests, which must not take seconds. */
export function createProviderMemory({
  now,
  log,
  answerWithin = limits.providerAnswer,
  patience = providerPatience,
}: {
  now: () => Date;
  log: Pick<FastifyBaseLogger, 'warn'>;
  answerWithin?: number;
  patience?: number;
}): ProviderMemory {
  const discoveries = new Map<string, Kept<ServerMetadata>>();
  const keySets = new Map<string, Kept<KeySet>>();
  const open = (networks: readonly string[]) => openConversation(networks, answerWithin);
  const keep = <T>(address: string, networks: readonly string[], read: (conversation: Conversation) => Promise<T>) =>
    keepFresh({
      read: () => read(open(networks)),
      now,
      patience,
      onFailure: (why) => log.warn({ provider: address }, why),
    });

  return {
    open,
    openBriefly: (networks) => openConversation(networks, patience),
    discovery: (issuer, { networks, signal }) =>
      remembered(discoveries, placeIn(issuer, networks), () =>
        keep(issuer, networks, (talk) => readDiscovery(issuer, talk)),
      ).get(signal),
    async keys(address, willDo, { networks, signal }) {
      const kept = remembered(keySets, placeIn(address, networks), () =>
        keep(address, networks, (talk) => readKeys(address, talk)),
      );
      const keySet = await kept.get(signal);
      return (await willDo(keySet)) ? keySet : await kept.getNewer(signal, willDo);
    },
  };
}

/** What one connection may read must not leak to another. */
function placeIn(address: string, networks: readonly string[]): string {
  return [address, ...networks].join(' ');
}

/** The entry of a map, created if missing; the least recently used one makes room. */
function remembered<T>(map: Map<string, T>, key: string, make: () => T): T {
  const entry = map.get(key) ?? make();
  map.delete(key);
  map.set(key, entry);
  const [oldest] = map.keys();
  if (map.size > providersRemembered && oldest !== undefined) map.delete(oldest);
  return entry;
}
