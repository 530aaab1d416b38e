import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config/config.ts';
import { clearCookie, readCookie, setCookie } from '../http/cookies.ts';
import { limits } from '../limits.ts';

/** Marks in the browser that someone signed out: the provider's session lives on, and may not be the next person's. */
export function askAfresh(reply: FastifyReply, config: Config): void {
  setCookie(reply, config, 'afresh', '1', limits.askedAfresh);
}

/** Whether the next visit asks its provider for a fresh sign-in. */
export function isToAskAfresh({ headers }: FastifyRequest, config: Config): boolean {
  return readCookie(headers, config, 'afresh') !== null;
}

/** That visit has begun. */
export function askedAfresh(reply: FastifyReply, config: Config): void {
  clearCookie(reply, config, 'afresh');
}
