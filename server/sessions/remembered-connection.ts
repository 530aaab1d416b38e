import type { FastifyReply, FastifyRequest } from 'fastify';
import { seal, unseal } from '../crypto/keys.ts';
import type { Deps } from '../deps.ts';
import { readCookie, setCookie } from '../http/cookies.ts';
import { day } from '../limits.ts';

/** How long a browser remembers the connection of its last sign-in. */
const ssoConnectionRemembered = 180 * day;

/** Binding (additional data) for the cookie, which others can neither read nor forge. */
const place = 'remembered-connection';

/** What the cookie holds: the connection of the last sign-in, and whether somebody has signed out since the last visit to a provider. */
type Remembered = { id: string | null; freshSignIn: boolean };

/** The id of the connection of this browser's last sign-in, or null. */
export function rememberedConnection(deps: Deps, request: FastifyRequest): string | null {
  return remembered(deps, request).id;
}

/** Only for people who are signed in; a pending second factor may never be completed. */
export function rememberConnection(deps: Deps, reply: FastifyReply, id: string): void {
  remember(deps, reply, { id, freshSignIn: false });
}

/** After a failure the next click asks for an address again: otherwise a person at the wrong provider is stuck. */
export function forgetConnection(deps: Deps, request: FastifyRequest, reply: FastifyReply): void {
  const { id, freshSignIn } = remembered(deps, request);
  if (id !== null) remember(deps, reply, { id: null, freshSignIn });
}

/**
 * After a sign-out: a provider's session may live on, and does not belong to the next person. The next visit, to whichever
 * provider, asks for a fresh sign-in, once. `forgets`: the connection, too.
 */
export function askForFreshSignIn(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  { forgets }: { forgets: boolean },
): void {
  remember(deps, reply, { id: forgets ? null : remembered(deps, request).id, freshSignIn: true });
}

/** Whether a visit that begins now asks its provider for a fresh sign-in. */
export function asksForFreshSignIn(deps: Deps, request: FastifyRequest): boolean {
  return deps.config.freshAfterSignOut && remembered(deps, request).freshSignIn;
}

/** A visit has asked. */
export function freshSignInAsked(deps: Deps, request: FastifyRequest, reply: FastifyReply): void {
  const { id, freshSignIn } = remembered(deps, request);
  if (freshSignIn) remember(deps, reply, { id, freshSignIn: false });
}

function remembered({ config, keys }: Deps, request: FastifyRequest): Remembered {
  const value = readCookie(request.headers, config, 'connection');
  const text = value === null ? null : unseal(keys.seal, Buffer.from(value, 'base64url'), place);
  return text === null ? { id: null, freshSignIn: false } : (JSON.parse(text) as Remembered);
}

function remember({ config, keys }: Deps, reply: FastifyReply, what: Remembered): void {
  const value = seal(keys.seal, JSON.stringify(what), place).toString('base64url');
  setCookie(reply, config, 'connection', value, ssoConnectionRemembered);
}
