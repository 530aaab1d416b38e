import type { FastifyReply, FastifyRequest } from 'fastify';
import { startOfMark } from '#contract/turn-of-form.ts';
import type { Config } from '../config/config.ts';
import { readCookie, readTokenCookie, setCookie } from '../http/cookies.ts';
import { limits } from '../limits.ts';
import { tokenHash } from '../secrets/token.ts';
import { providerOf, type SsoConnection } from '../storage/sso-connection.ts';

/** After a sign-out: visits in a row that ask for a fresh sign-in and from which nobody comes back. */
export const afreshVisits = 3;

/** Connections that a browser remembers as used since a sign-out; the others are asked for a fresh sign-in. */
const afreshConnections = 10;

/**
 * Marks in the browser that someone signed out: a provider's session may live on, and does not belong to the next
 * person. Until it has signed someone in, each provider is asked to authenticate again.
 * `signedOut` is the browser's mark of the sign-out, null if it has none.
 */
export function askAfresh(reply: FastifyReply, config: Config, signedOut: string | null): void {
  setWish(reply, config, noTries(signedOut));
}

/**
 * What a visit after a sign-out needs: a fresh sign-in at the provider or, once that has failed, the person's
 * confirmation of the account that the provider names. Null if nobody has signed out since somebody signed in through
 * this connection.
 */
export function wishAfterSignOut(
  request: FastifyRequest,
  config: Config,
  connection: SsoConnection,
): 'afresh' | 'confirmed' | null {
  const wish = wishOf(request, config);
  if (wish === null || wish.signedIn.includes(markOf(connection))) return null;
  return wish.tries <= afreshVisits ? 'afresh' : 'confirmed';
}

/** Counts a visit that asks for a fresh sign-in: a provider that fails with its own error page sends nobody back. */
export function noteAfreshVisit(request: FastifyRequest, reply: FastifyReply, config: Config): void {
  const wish = wishOrNew(request, config);
  setWish(reply, config, { ...wish, tries: wish.tries + 1 });
}

/** Whoever was at the provider may be followed by someone else: the next visit asks for a fresh sign-in once more. */
export function goOnAskingAfresh(request: FastifyRequest, reply: FastifyReply, config: Config): void {
  setWish(reply, config, { ...wishOrNew(request, config), tries: 1 });
}

/**
 * A connection's provider has named somebody who may be another person than whoever is here: until it has signed someone in,
 * it is asked for a fresh sign-in, as after a sign-out.
 */
export function askAfreshAt(
  request: FastifyRequest,
  reply: FastifyReply,
  config: Config,
  connection: SsoConnection,
): void {
  const wish = wishOrNew(request, config);
  const signedIn = wish.signedIn.filter((other) => other !== markOf(connection));
  setWish(reply, config, { ...wish, tries: 1, signedIn });
}

/** The provider answered that it cannot do what it was asked for: the next visit asks for nothing. */
export function giveUpAskingAfresh(request: FastifyRequest, reply: FastifyReply, config: Config): void {
  setWish(reply, config, { ...wishOrNew(request, config), tries: afreshVisits + 1 });
}

/** A connection has signed someone in, so the previous person has gone there. The others are still asked. */
export function endAskingAfresh(
  request: FastifyRequest,
  reply: FastifyReply,
  config: Config,
  connection: SsoConnection,
): void {
  const wish = wishOf(request, config);
  if (wish === null) return;
  const mark = markOf(connection);
  const signedIn = [...wish.signedIn.filter((other) => other !== mark), mark].slice(-afreshConnections);
  setWish(reply, config, { ...wish, tries: 1, signedIn });
}

/**
 * The sign-out, the number of the next visit, and the marks of the connections that have signed someone in since. Every
 * response that changes a wish writes what its request had, so one that is read late brings back an earlier sign-out's:
 * then `signOut` differs from the browser's mark.
 */
type Wish = { signOut: string; tries: number; signedIn: string[] };

function noTries(signedOut: string | null): Wish {
  return { signOut: startOfMark(signedOut) ?? noSignOut, tries: 1, signedIn: [] };
}

/** After an abandoned second factor, in a browser that has no mark. */
const noSignOut = '________';

/** Null if nobody has signed out. Anything strange, or of an earlier sign-out, counts as a sign-out of a moment ago. */
function wishOf({ headers }: FastifyRequest, config: Config): Wish | null {
  const value = readCookie(headers, config, 'afresh');
  if (value === null) return null;
  const latest = noTries(readTokenCookie(headers, config, 'signed-out'));
  const [, signOut, tries, marks] = /^([\w-]{8})([1-9])((?:[\w-]{8})*)$/.exec(value) ?? [];
  if (signOut === undefined || (latest.signOut !== noSignOut && latest.signOut !== signOut)) return latest;
  return { signOut, tries: Number(tries), signedIn: marks?.match(/.{8}/g) ?? [] };
}

function wishOrNew(request: FastifyRequest, config: Config): Wish {
  return wishOf(request, config) ?? noTries(readTokenCookie(request.headers, config, 'signed-out'));
}

/** Enough to tell connections and their providers apart; no reader learns which ones they are. */
function markOf(connection: SsoConnection): string {
  return tokenHash(`${connection.id} ${providerOf(connection)}`)
    .toString('base64url')
    .slice(0, 8);
}

function setWish(reply: FastifyReply, config: Config, { signOut, tries, signedIn }: Wish): void {
  const value = signOut + Math.min(tries, afreshVisits + 1) + signedIn.join('');
  setCookie(reply, config, 'afresh', value, limits.askedAfresh);
}
