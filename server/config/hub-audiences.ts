import { parseNetworkList } from '../names/network-list.ts';
import type { ConfigFile } from './config-file.ts';
import { loopbackNames } from './loopback-names.ts';

/** The algorithms of hub tokens (RFC 7518 §3.4, RFC 8037 §3.1). */
export type HubAlgorithm = 'EdDSA' | 'ES256';

/** A hub that gets tokens: its name is their audience. */
export type HubAudience = {
  name: string;
  algorithm: HubAlgorithm;
  /** Where it is told about sign-outs; null: it is not told. */
  logoutUrl: string | null;
  /** Networks besides the public ones that this address may be in. */
  logoutNetworks: string[];
};

type FromFile = NonNullable<NonNullable<ConfigFile['hub']>['audiences']>;

/** The hubs that get tokens, in the order of the file. Adds what is wrong with them to `problems`. */
export function readHubAudiences(file: FromFile | undefined, problems: string[]): HubAudience[] {
  const names = new Set<string>();
  return (file ?? []).map(({ name, algorithm = 'ES256', logoutUrl = null, logoutNetworks = [] }, index) => {
    const setting = `hub.audiences.${index}`;
    if (names.has(name)) problems.push(`${setting}.name: ${name} is there twice`);
    names.add(name);
    if (logoutUrl !== null && !isLogoutUrl(logoutUrl))
      problems.push(`${setting}.logoutUrl: must be https, without user or fragment; plain http is for localhost only`);
    for (const text of parseNetworkList(logoutNetworks).invalid)
      problems.push(`${setting}.logoutNetworks: ${JSON.stringify(text)} is not an address or a network`);
    return { name, algorithm, logoutUrl, logoutNetworks: [...logoutNetworks] };
  });
}

function isLogoutUrl(text: string): boolean {
  const url = URL.parse(text);
  if (!url || url.username || url.password || text.includes('#')) return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && loopbackNames.includes(url.hostname));
}
