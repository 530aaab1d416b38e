import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../deps/deps.ts';
import { clearCookie, readCookie, setCookie } from '../http/cookies.ts';
import { day } from '../limits.ts';
import { seal, unseal } from '../secrets/sealed.ts';

/** The connection of a browser's last sign-in. */
const ssoConnectionRemembered = 180 * day;

/** Binding (additional data) for the cookie, which others can neither read nor forge. */
const place = 'remembered-connection';

/** The id of the connection of this browser's last sign-in, or null. */
export function rememberedConnection({ config, keys }: Deps, request: FastifyRequest): string | null {
  const value = readCookie(request.headers, config, 'connection');
  return value ? unseal(keys.seal, Buffer.from(value, 'base64url'), place) : null;
}

/** Only for people who are signed in; a pending second factor may never be completed. */
export function rememberConnection({ config, keys }: Deps, reply: FastifyReply, id: string): void {
  setCookie(reply, config, 'connection', seal(keys.seal, id, place).toString('base64url'), ssoConnectionRemembered);
}

/** After a failure the next click asks for an address again: otherwise a person at the wrong provider is stuck. */
export function forgetConnection({ config }: Deps, request: FastifyRequest, reply: FastifyReply): void {
  if (readCookie(request.headers, config, 'connection') !== null) clearCookie(reply, config, 'connection');
}
