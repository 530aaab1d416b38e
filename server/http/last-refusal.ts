import type { FastifyReply, FastifyRequest } from 'fastify';
import { longestUsername } from '#contract/payloads.ts';
import { referenceOfText } from '../audit/reference.ts';
import type { Config } from '../config.ts';
import { limits } from '../limits.ts';
import { clearCookie, readCookie, setCookie } from './cookies.ts';

/** What a refused sign-in leaves in the visitor's own browser for the next pages; never in an address or a log. */
export type LastRefusal = { reference: string | null; username: string };

const none: LastRefusal = { reference: null, username: '' };

export function setLastRefusal(reply: FastifyReply, config: Config, refusal: LastRefusal): void {
  const value = Buffer.from(JSON.stringify(refusal)).toString('base64url');
  setCookie(reply, config, 'refusal', value, limits.refusalLifetime);
}

export function clearLastRefusal(request: FastifyRequest, reply: FastifyReply, config: Config): void {
  if (readCookie(request.headers, config, 'refusal') !== null) clearCookie(reply, config, 'refusal');
}

/** The last refusal as the browser brings it back; an unreadable one counts as none. */
export function readLastRefusal(request: FastifyRequest, config: Config): LastRefusal {
  const value = readCookie(request.headers, config, 'refusal');
  if (!value) return none;
  try {
    const { reference, username } = JSON.parse(Buffer.from(value, 'base64url').toString()) as Record<string, unknown>;
    if (typeof username !== 'string' || [...username].length > longestUsername || !username.isWellFormed()) return none;
    return { reference: typeof reference === 'string' ? referenceOfText(reference) : null, username };
  } catch {
    return none;
  }
}
