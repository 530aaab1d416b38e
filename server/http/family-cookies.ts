import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config/config.ts';
import { clearCookie, listCookies, readTokenCookie, setCookie, type TokenCookieName } from './cookies.ts';

/** What a browser may hold several of. Tabs share all cookies, so each has its own. */
type Family = 'visit' | 'link';

export type FamilyCookie<F extends Family> = TokenCookieName & `${F}-${string}`;

type NewCookie<F extends Family> = {
  name: FamilyCookie<F>;
  token: string;
  /** In milliseconds; absent means until the browser closes. */
  maxAge?: number;
  most: number;
};

/** Enough characters of a hash to distinguish the cookies of one browser. */
const told = 8;

/** The cookie that belongs to a hash. */
export function familyCookie<F extends Family>(family: F, hash: Buffer): FamilyCookie<F> {
  return `${family}-${hash.toString('base64url').slice(0, told)}` as FamilyCookie<F>;
}

/** The tokens that this browser holds in a family, by cookie name, oldest first (RFC 6265 §5.4). */
export function familyOfBrowser<F extends Family>(
  family: F,
  { headers }: FastifyRequest,
  config: Config,
): Map<FamilyCookie<F>, string | null> {
  const isOurs = new RegExp(`^${family}-[\\w-]{${told}}$`);
  const names = listCookies(headers, config, `${family}-`).filter((name): name is FamilyCookie<F> => isOurs.test(name));
  return new Map(names.map((name) => [name, readTokenCookie(headers, config, name)]));
}

/** Sets a cookie of a family; if the browser then has more than `most`, the oldest others are dropped. */
export function setFamilyCookie<F extends Family>(
  family: F,
  request: FastifyRequest,
  reply: FastifyReply,
  config: Config,
  { name, token, maxAge, most }: NewCookie<F>,
): void {
  const others = [...familyOfBrowser(family, request, config).keys()].filter((other) => other !== name);
  const tooMany = Math.max(0, others.length + 1 - most);
  for (const other of others.slice(0, tooMany)) clearCookie(reply, config, other);
  setCookie(reply, config, name, token, maxAge);
}
