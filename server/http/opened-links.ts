import type { FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify';
import type { Config } from '../config/config.ts';
import type { Deps } from '../deps/deps.ts';
import { limits } from '../limits.ts';
import { tokenHash } from '../secrets/token.ts';
import { withdrawLinks } from '../storage/reset-link.ts';
import { clearCookie } from './cookies.ts';
import { familyCookie, familyOfBrowser, setFamilyCookie } from './family-cookies.ts';

/**
 * Marks in the browser that it has opened a reset link: its history keeps the address, and shows it to the next person
 * (docs/decisions/0027). The cookie holds the token's hash, for as long as the longest link is valid. Returns how to take it back, if there turns out to be no link.
 */
export function noteOpenedLink(
  request: FastifyRequest,
  reply: FastifyReply,
  config: Config,
  token: string,
): () => void {
  const cookiesBefore = [reply.getHeader('set-cookie') ?? []].flat();
  const hash = tokenHash(token);
  const cookie = {
    name: familyCookie('link', hash),
    token: hash.toString('base64url'),
    maxAge: limits.invitation,
    most: limits.linksOfBrowser,
  };
  setFamilyCookie('link', request, reply, config, cookie);
  return () => {
    reply.removeHeader('set-cookie');
    if (cookiesBefore.length > 0) reply.header('set-cookie', cookiesBefore);
  };
}

const givenUp = new WeakSet<FastifyRequest>();

/** Someone signs in or out: the links that this browser has opened are withdrawn before the answer is sent. */
export function giveUpOpenedLinks(request: FastifyRequest): void {
  givenUp.add(request);
}

/**
 * Withdraws the links given up by a request, no more than a browser is given cookies for: whoever sends more made them up.
 * If the database is down the cookies stay, and the next sign-in or sign-out tries again.
 */
export function withdrawGivenUpLinks({ config, sql }: Deps): onSendHookHandler {
  return function withdraw(request, reply, _payload, done) {
    const links = givenUp.has(request) ? familyOfBrowser('link', request, config) : null;
    if (!links || links.size === 0) return done();
    const failed = (error: unknown) => request.log.error({ err: error }, 'an opened link could not be withdrawn');
    withdrawAll(links, reply)
      .catch(failed)
      .finally(() => done());
  };

  async function withdrawAll(links: OpenedLinks, reply: FastifyReply): Promise<void> {
    await withdrawNewest(sql, links);
    for (const name of links.keys()) clearCookie(reply, config, name);
  }
}

type OpenedLinks = ReturnType<typeof familyOfBrowser<'link'>>;

/** Withdraws the links that this browser has opened at once, before one of them is looked at. Their cookies stay. */
export async function withdrawOpenedLinks({ config, sql }: Deps, request: FastifyRequest): Promise<void> {
  await withdrawNewest(sql, familyOfBrowser('link', request, config));
}

async function withdrawNewest(sql: Deps['sql'], links: OpenedLinks): Promise<void> {
  const newest = [...links.values()].slice(-limits.linksOfBrowser).filter((hash) => hash !== null);
  const hashes = newest.map((hash) => Buffer.from(hash, 'base64url'));
  if (hashes.length > 0) await withdrawLinks(sql, hashes);
}
