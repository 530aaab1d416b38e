import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../deps.ts';
import { clearCookie, readCookie, setCookie } from '../http/cookies.ts';
import { limits } from '../limits.ts';
import { seal, unseal } from '../secrets/sealed.ts';

/** Where the cookie is sealed for; it says nothing to who reads it and cannot be made by anybody else. */
const place = 'remembered-connection';

/** The id of the connection by which this browser signed in last, or null. */
export function rememberedConnection({ config, keys }: Deps, request: FastifyRequest): string | null {
  const value = readCookie(request.headers, config, 'connection');
  return value ? unseal(keys.seal, Buffer.from(value, 'base64url'), place) : null;
}

/** For who is signed in by it; a second factor that is open may never be shown. */
export function rememberConnection({ config, keys }: Deps, reply: FastifyReply, id: string): void {
  setCookie(
    reply,
    config,
    'connection',
    seal(keys.seal, id, place).toString('base64url'),
    limits.ssoConnectionRemembered,
  );
}

/** After a failure the next press asks for an address again: who is wrong at this provider would never get elsewhere. */
export function forgetConnection({ config }: Deps, request: FastifyRequest, reply: FastifyReply): void {
  if (readCookie(request.headers, config, 'connection') !== null) clearCookie(reply, config, 'connection');
}
