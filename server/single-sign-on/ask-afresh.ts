import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import { clearCookie, readCookie, setCookie } from '../http/cookies.ts';
import { limits } from '../limits.ts';

/**
 * Marks in the browser that someone signed out: a provider's session may live on, and does not belong to the next
 * person. Until a provider has signed someone in, each is asked to authenticate again (docs/decisions/0029).
 */
export function askAfresh(reply: FastifyReply, config: Config): void {
  setCookie(reply, config, 'afresh', '1', limits.askedAfresh);
}

/** Whether a provider has to authenticate again whoever is signed in there. */
export function isAskedAfresh({ headers }: FastifyRequest, config: Config): boolean {
  return readCookie(headers, config, 'afresh') !== null;
}

/** A provider has signed someone in, so the previous person has gone. */
export function endAskingAfresh(request: FastifyRequest, reply: FastifyReply, config: Config): void {
  if (isAskedAfresh(request, config)) clearCookie(reply, config, 'afresh');
}
