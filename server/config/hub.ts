import { type Call, calls } from '#contract/calls.ts';
import { hubStartPath, screenPaths } from '#contract/screens.ts';
import { second } from '../limits.ts';
import { parseNetworkList } from '../names/network.ts';
import { isProviderAddress } from './public-url.ts';
import type { ConfigFile } from './read-config-file.ts';

/** The application behind the gate. */
export type Hub = {
  /** An origin. */
  url: URL;
  /** Path prefixes whose requests are passed on, each with everything below it; `/` is all but the portal's own. */
  paths: string[];
  publicPaths: string[];
  /** How long the hub may take to begin an answer, in milliseconds. */
  answerWithin: number;
  /** What proves to the hub that a request came through the gate; null: nothing is sent. */
  secret: string | null;
  audience: HubAudience | null;
};

/** Addresses of the portal outside the base path. */
export const rootPaths = [
  '/healthz',
  '/readyz',
  '/metrics',
  '/.well-known/change-password',
  '/.well-known/jwks.json',
] as const;

const shortestSecret = 32;

/** Reads the settings of the gate; null if there is no hub behind it. Adds what is wrong to `problems`. */
export function readHub(
  file: ConfigFile['hub'],
  { secret, basePath, audiences }: { secret: string | undefined; basePath: string; audiences: readonly HubAudience[] },
  problems: string[],
): Hub | null {
  const { url: text, paths: listed = [], publicPaths = [], answerSeconds = 60, audience: name } = file ?? {};
  if (secret && !/^[\x21-\x7e]{32,200}$/.test(secret))
    problems.push(
      `VESTIBULE_HUB_SECRET: must have ${shortestSecret} to 200 ASCII characters without spaces (openssl rand -base64 32)`,
    );
  if (text === undefined) {
    for (const name of ['paths', 'publicPaths', 'answerSeconds', 'audience'] as const)
      if (file?.[name] !== undefined) problems.push(`hub.${name}: needs hub.url`);
    if (secret) problems.push('VESTIBULE_HUB_SECRET: needs hub.url');
    return null;
  }
  const url = URL.parse(text);
  if (!url || url.href !== `${url.origin}/`) {
    problems.push('hub.url: must be just an origin, such as http://127.0.0.1:3000, without path, query or user');
    return null;
  }
  const paths = [...new Set([basePath + hubStartPath, ...listed])];
  for (const path of paths.slice(1))
    if (isPortals(path, basePath)) problems.push(`hub.paths: ${path} is the portal's own`);
  for (const path of publicPaths)
    if (!paths.some((served) => isAtOrBelow(path, served)))
      problems.push(`hub.publicPaths: ${path} is not among hub.paths`);
  const audience = audiences.find((one) => one.name === name) ?? null;
  if (name !== undefined && audience === null) problems.push(`hub.audience: ${name} is not among hub.audiences`);
  return { url, paths, publicPaths, answerWithin: answerSeconds * second, secret: secret || null, audience };
}

/** Whether a path is another or lies below it. */
export function isAtOrBelow(path: string, other: string): boolean {
  return other === '/' || path === other || path.startsWith(`${other}/`);
}

/** Whether a prefix would take addresses of the portal; `/` leaves them to it. */
function isPortals(path: string, basePath: string): boolean {
  if (path === '/') return false;
  const below = ['/assets', '/logo', '/loginfail', ...Object.values(screenPaths)];
  const own = [...below, ...(Object.keys(calls) as Call[]).map((call) => calls[call].path)];
  const all = [...rootPaths, ...own.map((one) => basePath + one)].map((one) => one.toLowerCase());
  const asked = path.toLowerCase();
  return all.some((one) => isAtOrBelow(asked, one) || isAtOrBelow(one, asked));
}

/** A hub that gets tokens: its name is their audience. */
export type HubAudience = {
  name: string;
  logoutUrl: string | null;
  logoutNetworks: string[];
};

type FromFile = NonNullable<NonNullable<ConfigFile['hub']>['audiences']>;

/** The hubs that get tokens, in the order of the file. Adds what is wrong with them to `problems`. */
export function readHubAudiences(file: FromFile | undefined, problems: string[]): HubAudience[] {
  const names = new Set<string>();
  return (file ?? []).map(({ name = '', logoutUrl = null, logoutNetworks = [] }, index) => {
    const setting = `hub.audiences.${index}`;
    if (names.has(name)) problems.push(`${setting}.name: ${name} is there twice`);
    names.add(name);
    if (logoutUrl !== null && !(isProviderAddress(logoutUrl) && !logoutUrl.includes('#')))
      problems.push(`${setting}.logoutUrl: must be https, without user or fragment; plain http is for localhost only`);
    for (const text of parseNetworkList(logoutNetworks).invalid)
      problems.push(`${setting}.logoutNetworks: ${JSON.stringify(text)} is not an address or a network`);
    return { name, logoutUrl, logoutNetworks: [...logoutNetworks] };
  });
}

/** The names of the headers that tell a hub who is signed in. */
export type IdentityHeaders = Record<'user' | 'email' | 'name' | 'customers' | 'groups' | 'language' | 'token', string>;

const defaults: IdentityHeaders = {
  user: 'X-Vestibule-User',
  email: 'X-Vestibule-Email',
  name: 'X-Vestibule-Name',
  customers: 'X-Vestibule-Customers',
  groups: 'X-Vestibule-Groups',
  language: 'X-Vestibule-Language',
  token: 'X-Vestibule-Token',
};

const taken = ['x-content-type-options', 'x-frame-options', 'x-forwarded-for', 'x-forwarded-method', 'x-forwarded-uri'];

/** The names, with defaults for those that the configuration file omits. Adds what is wrong with them to `problems`. */
export function readIdentityHeaders(file: Partial<IdentityHeaders> | undefined, problems: string[]): IdentityHeaders {
  const names = { ...defaults, ...file };
  const seen = new Set(taken);
  for (const [setting, name] of Object.entries(names)) {
    if (seen.has(name.toLowerCase())) problems.push(`hub.identityHeaders.${setting}: ${name} has another use`);
    seen.add(name.toLowerCase());
  }
  return names;
}
