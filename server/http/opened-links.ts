import type { FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify';
import type { Config } from '../config/config.ts';
import type { Deps } from '../deps/deps.ts';
import { limits } from '../limits.ts';
import { tokenHash } from '../secrets/token.ts';
import { withdrawResetLink } from '../storage/reset-link.ts';
import { clearCookie, listCookies, readTokenCookie, setCookie, type TokenCookieName } from './cookies.ts';

type LinkCookie = TokenCookieName & `link-${string}`;

/** Enough characters of a link's hash to distinguish those of one browser. */
const told = 8;
const isLinkCookie = /^link-[\w-]{8}$/;

/** The links that this browser has opened, as hashes of their tokens by cookie name, oldest first (RFC 6265 §5.4). */
function openedLinks({ headers }: FastifyRequest, config: Config): Map<LinkCookie, string | null> {
  const names = listCookies(headers, config, 'link-').filter((name): name is LinkCookie => isLinkCookie.test(name));
  return new Map(names.map((name) => [name, readTokenCookie(headers, config, name)]));
}

/**
 * Marks in the browser that it has opened a reset link: its history keeps the address, and shows it to the next person
 * (docs/decisions/0027). Each link has its own cookie, as tabs share all cookies; of too many the oldest are dropped.
 */
export function noteOpenedLink(request: FastifyRequest, reply: FastifyReply, config: Config, token: string): void {
  const hash = tokenHash(token).toString('base64url');
  const name: LinkCookie = `link-${hash.slice(0, told)}`;
  const others = [...openedLinks(request, config).keys()].filter((other) => other !== name);
  for (const other of others.slice(0, Math.max(0, others.length + 1 - limits.linksOfBrowser)))
    clearCookie(reply, config, other);
  setCookie(reply, config, name, hash, limits.resetLink);
}

const givenUp = new WeakSet<FastifyRequest>();

/** Someone signs in or out: before the answer is sent, the links that this browser has opened are withdrawn. */
export function giveUpOpenedLinks(request: FastifyRequest): void {
  givenUp.add(request);
}

/**
 * Withdraws the links given up by a request. One after the other, so that it never holds one while waiting for another.
 * If the database is down the cookies stay, and the next sign-in or sign-out tries again.
 */
export function withdrawGivenUpLinks({ config, sql }: Deps): onSendHookHandler {
  return function withdraw(request, reply, _payload, done) {
    const links = givenUp.has(request) ? openedLinks(request, config) : null;
    if (!links || links.size === 0) return done();
    const failed = (error: unknown) => request.log.error({ err: error }, 'an opened link could not be withdrawn');
    withdrawAll(links, reply)
      .catch(failed)
      .finally(() => done());
  };

  async function withdrawAll(links: Map<LinkCookie, string | null>, reply: FastifyReply): Promise<void> {
    for (const [name, hash] of links) {
      if (hash) await withdrawResetLink(sql, Buffer.from(hash, 'base64url'));
      clearCookie(reply, config, name);
    }
  }
}
