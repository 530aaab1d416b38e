import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config/config.ts';
import { readCookie, setCookie } from '../http/cookies.ts';
import { limits } from '../limits.ts';
import { tokenHash } from '../secrets/token.ts';

/**
 * Marks in the browser that someone signed out: a provider's session may live on, and does not belong to the next
 * person. Until it has signed someone in, each provider is asked to authenticate again (docs/decisions/0029).
 */
export function askAfresh(reply: FastifyReply, config: Config): void {
  setWish(reply, config, { tries: 1, signedIn: [] });
}

/**
 * What a visit after a sign-out needs: a fresh sign-in at the provider or, once that has failed, the person's
 * confirmation of the account that the provider names. Null if nobody has signed out since somebody signed in through
 * this connection.
 */
export function wishAfterSignOut(
  request: FastifyRequest,
  config: Config,
  connectionId: string,
): 'afresh' | 'confirmed' | null {
  const wish = wishOf(request, config);
  if (wish === null || wish.signedIn.includes(markOf(connectionId))) return null;
  return wish.tries <= limits.afreshVisits ? 'afresh' : 'confirmed';
}

/** Counts a visit that asks for a fresh sign-in: a provider that fails with its own error page sends nobody back. */
export function noteAfreshVisit(request: FastifyRequest, reply: FastifyReply, config: Config): void {
  const { tries, signedIn } = wishOf(request, config) ?? noTries;
  setWish(reply, config, { tries: tries + 1, signedIn });
}

/** Whoever was at the provider may be followed by someone else: the next visit asks for a fresh sign-in once more. */
export function goOnAskingAfresh(request: FastifyRequest, reply: FastifyReply, config: Config): void {
  setWish(reply, config, { ...(wishOf(request, config) ?? noTries), tries: 1 });
}

/** The provider answered that it cannot do what it was asked for: the next visit asks for nothing. */
export function giveUpAskingAfresh(request: FastifyRequest, reply: FastifyReply, config: Config): void {
  setWish(reply, config, { ...(wishOf(request, config) ?? noTries), tries: limits.afreshVisits + 1 });
}

/** A connection has signed someone in, so the previous person has gone there. The others are still asked. */
export function endAskingAfresh(
  request: FastifyRequest,
  reply: FastifyReply,
  config: Config,
  connectionId: string,
): void {
  const wish = wishOf(request, config);
  if (wish === null) return;
  const mark = markOf(connectionId);
  const signedIn = [...wish.signedIn.filter((other) => other !== mark), mark].slice(-limits.afreshConnections);
  setWish(reply, config, { tries: 1, signedIn });
}

/** The number of the next visit, and the marks of the connections that have signed someone in since the sign-out. */
type Wish = { tries: number; signedIn: string[] };

const noTries: Wish = { tries: 1, signedIn: [] };

/** Null if nobody has signed out. Anything strange counts as a sign-out of a moment ago. */
function wishOf({ headers }: FastifyRequest, config: Config): Wish | null {
  const value = readCookie(headers, config, 'afresh');
  if (value === null) return null;
  const [, tries, marks] = /^([1-9])((?:[\w-]{8})*)$/.exec(value) ?? [];
  return tries === undefined ? noTries : { tries: Number(tries), signedIn: marks?.match(/.{8}/g) ?? [] };
}

/** Enough to tell connections apart; no reader learns which ones they are. */
function markOf(connectionId: string): string {
  return tokenHash(connectionId).toString('base64url').slice(0, 8);
}

function setWish(reply: FastifyReply, config: Config, { tries, signedIn }: Wish): void {
  const value = Math.min(tries, limits.afreshVisits + 1) + signedIn.join('');
  setCookie(reply, config, 'afresh', value, limits.askedAfresh);
}
