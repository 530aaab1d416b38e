import { type Call, calls } from '#contract/calls.ts';
import { hubStartPath, screenPaths } from '#contract/screens.ts';
import { second } from '../limits.ts';
import type { ConfigFile } from './config-file.ts';
import type { HubAudience } from './hub-audiences.ts';

/** The application behind the gate. */
export type Hub = {
  /** An origin. */
  url: URL;
  /** Path prefixes whose requests are passed on, each with everything below it; `/` is all but the portal's own. */
  paths: string[];
  rules: HubRule[];
  /** How long the hub may take to begin an answer, in milliseconds. */
  answerWithin: number;
  /** What proves to the hub that a request came through the gate; null: nothing is sent. */
  secret: string | null;
  /** Whose tokens the hub gets; null: none. */
  audience: HubAudience | null;
};

/** Who may reach a path and everything below it: everybody, whoever is signed in, or users of one of some customers. */
export type HubRule = { path: string; who: 'public' | 'signedIn' | readonly string[] };

/** Addresses of the portal outside the base path. */
export const rootPaths = [
  '/healthz',
  '/readyz',
  '/metrics',
  '/.well-known/change-password',
  '/.well-known/passkey-endpoints',
  '/.well-known/webauthn',
  '/.well-known/jwks.json',
] as const;

const shortestSecret = 32;

/** Reads the settings of the gate; null if there is no hub behind it. Adds what is wrong to `problems`. */
export function readHub(
  file: ConfigFile['hub'],
  { secret, basePath, audiences }: { secret: string | undefined; basePath: string; audiences: readonly HubAudience[] },
  problems: string[],
): Hub | null {
  const { url: text, paths: listed = [], rules: given = [], answerSeconds = 60, audience: name } = file ?? {};
  if (secret && !/^[\x21-\x7e]{32,200}$/.test(secret))
    problems.push(
      `VESTIBULE_HUB_SECRET: must have ${shortestSecret} to 200 ASCII characters without spaces (openssl rand -base64 32)`,
    );
  if (text === undefined) {
    for (const name of ['paths', 'rules', 'answerSeconds', 'audience'] as const)
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
  const rules = given.flatMap((rule) => readRule(rule, { paths, given }, problems));
  const audience = audiences.find((one) => one.name === name) ?? null;
  if (name !== undefined && audience === null) problems.push(`hub.audience: ${name} is not among hub.audiences`);
  return { url, paths, rules, answerWithin: answerSeconds * second, secret: secret || null, audience };
}

type GivenRule = NonNullable<NonNullable<ConfigFile['hub']>['rules']>[number];

function readRule(
  rule: GivenRule,
  { paths, given }: { paths: readonly string[]; given: readonly GivenRule[] },
  problems: string[],
): HubRule[] {
  const { path, allow, customers } = rule;
  const before = problems.length;
  const first = given.find((other) => other.path.toLowerCase() === path.toLowerCase());
  if (allow !== undefined && customers !== undefined)
    problems.push(`hub.rules: ${path} needs either allow or customers`);
  if (first?.path !== path) problems.push(`hub.rules: ${path} and ${first?.path} differ in case only`);
  else if (given.filter((other) => other.path === path).length > 1 && rule !== first)
    problems.push(`hub.rules: ${path} has more than one rule`);
  if (!paths.some((served) => isAtOrBelow(path, served) || isAtOrBelow(served, path)))
    problems.push(`hub.rules: ${path} is not among hub.paths`);
  return problems.length > before ? [] : [{ path, who: customers ?? allow ?? 'signedIn' }];
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
  const all = [...rootPaths, ...own.map((one) => basePath + one)];
  return all.some((one) => overlap(path.toLowerCase(), one.toLowerCase()));
}

function overlap(one: string, other: string): boolean {
  return isAtOrBelow(one, other) || isAtOrBelow(other, one);
}
