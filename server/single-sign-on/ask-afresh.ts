import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import { clearCookie, readCookie, setCookie } from '../http/cookies.ts';
import { limits } from '../limits.ts';

/**
 * Notes in the browser that somebody signed out: a provider's session may live on, and is not the next person's. Until a
 * provider has signed somebody in, each is asked to have them sign in there once more (docs/decisions/0029).
 */
export function askAfresh(reply: FastifyReply, config: Config): void {
  setCookie(reply, config, 'afresh', '1', limits.askedAfresh);
}

/** Whether a provider is to ask whoever is signed in there once more. */
export function isAskedAfresh({ headers }: FastifyRequest, config: Config): boolean {
  return readCookie(headers, config, 'afresh') !== null;
}

/** A provider has signed somebody in, and whoever was there before is not there any more. */
export function endAskingAfresh(request: FastifyRequest, reply: FastifyReply, config: Config): void {
  if (isAskedAfresh(request, config)) clearCookie(reply, config, 'afresh');
}
