import type { FastifyReply, FastifyRequest } from 'fastify';
import { longestUsername } from '#contract/payloads.ts';
import { referenceOfText } from '../audit/reference.ts';
import type { Config } from '../config.ts';
import { limits } from '../limits.ts';
import { clearCookie, readCookie, setCookie } from './cookies.ts';

/** What a refused sign-in leaves in the visitor's own browser for the next pages; never in an address or a log. */
export type Notice = { reference: string | null; username: string };

const none: Notice = { reference: null, username: '' };

export function setNotice(reply: FastifyReply, config: Config, notice: Notice): void {
  const value = Buffer.from(JSON.stringify(notice)).toString('base64url');
  setCookie(reply, config, 'notice', value, limits.noticeLifetime);
}

export function clearNotice(request: FastifyRequest, reply: FastifyReply, config: Config): void {
  if (readCookie(request.headers, config, 'notice') !== null) clearCookie(reply, config, 'notice');
}

/** The notice that the browser brings back; an unreadable one counts as none. */
export function readNotice(request: FastifyRequest, config: Config): Notice {
  const value = readCookie(request.headers, config, 'notice');
  if (!value) return none;
  try {
    const { reference, username } = JSON.parse(Buffer.from(value, 'base64url').toString()) as Record<string, unknown>;
    if (typeof username !== 'string' || [...username].length > longestUsername || !username.isWellFormed()) return none;
    return { reference: typeof reference === 'string' ? referenceOfText(reference) : null, username };
  } catch {
    return none;
  }
}
