import { lookup } from 'node:dns/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { Deps } from '../deps.ts';
import { mayReach, refusedByHost } from '../http/provider-fetch.ts';
import { second } from '../limits.ts';
import { metadataWarnings } from './saml/watch-metadata.ts';
import { listSsoConnections, type SsoConnection } from './sso-connection.ts';
import { listEnds, warningsOf } from './what-ends.ts';

/** Everything about single sign-on that needs the operator's attention, in words. */
export async function ssoWarnings({ sql, now }: Pick<Deps, 'sql' | 'now'>): Promise<string[]> {
  const connections = await listSsoConnections(sql);
  return [
    ...warningsOf(await listEnds(sql), now()),
    ...(await networkWarnings(connections)),
    ...(await metadataWarnings(sql)),
  ];
}

type Lookup = (host: string) => Promise<{ address: string }[]>;

/** Providers in networks that are not listed for their connection, so that nobody can sign in through them. */
export async function networkWarnings(
  connections: readonly SsoConnection[],
  lookUp: Lookup = (host) => lookup(host, { all: true }),
): Promise<string[]> {
  const found = await Promise.all(connections.filter(({ active }) => active).map((one) => warningOf(one, lookUp)));
  return found.filter((warning) => warning !== null);
}

async function warningOf(connection: SsoConnection, lookUp: Lookup): Promise<string | null> {
  const { key, providerNetworks } = connection;
  const url = URL.parse(
    (connection.protocol === 'oidc' ? connection.settings.issuer : connection.settings.metadataUrl) ?? '',
  );
  if (!url) return null;
  const addresses = refusedByHost(url, providerNetworks)?.addresses ?? (await addressesOf(url.hostname, lookUp));
  const [first] = addresses;
  if (first === undefined || addresses.some((address) => mayReach(address, providerNetworks))) return null;
  const network = `${first}/${first.includes(':') ? 128 : 32}`;
  return `connection ${key}: its provider is at ${addresses.join(', ')}, which is neither public nor in the networks of the connection – if that is right, vestibule connection set ${key} --provider-network ${network}`;
}

/** Lookups have a short timeout, and an unknown name is not a question of networks. */
async function addressesOf(host: string, lookUp: Lookup): Promise<string[]> {
  const none = pause(2 * second, [], { ref: false });
  const found = await Promise.race([lookUp(host).catch(() => []), none]);
  return found.map(({ address }) => address);
}
