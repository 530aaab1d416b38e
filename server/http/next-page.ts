import type { FastifyReply, FastifyRequest } from 'fastify';
import { accountSectionOf } from '#contract/account.ts';
import { longestUsername } from '#contract/payloads.ts';
import { reasonOfSearch } from '#contract/reasons.ts';
import { pathOfScreen, screenOfPath } from '#contract/screens.ts';
import { referenceOfText } from '../audit/reference.ts';
import type { Config } from '../config/config.ts';
import { limits } from '../limits.ts';
import { clearCookie, readCookie, setCookie } from './cookies.ts';
import { splitUrl } from './request-url.ts';

/**
 * What a page leaves in the visitor's own browser for the next ones, for ten minutes; never in an address or a log. The reference of
 * a refusal is only for its page, at `url`: elsewhere it would refer to something else.
 */
type ToldToNextPage = {
  /** As it was typed; the next form has it filled in. */
  username: string;
  refusal?: { reference: string; url: string };
  /** The first page after a sign-out is told of it. */
  isSignedOut?: boolean;
};

export function tellNextPage(reply: FastifyReply, config: Config, told: ToldToNextPage): void {
  const { username, refusal, isSignedOut } = told;
  const of = { reference: refusal?.reference ?? null, at: refusal && pageKey(config, refusal.url) };
  const text = JSON.stringify({ username, ...of, out: isSignedOut || undefined });
  setCookie(reply, config, 'next-page', Buffer.from(text).toString('base64url'), limits.nextPageLifetime);
}

export function forgetNextPage(reply: FastifyReply, config: Config): void {
  if (readCookie(reply.request.headers, config, 'next-page') !== null) clearCookie(reply, config, 'next-page');
}

const none = { reference: null, username: '', isSignedOut: false };

/** What the page of `url` is told, as sent by the browser; ignored if unreadable. */
export function toldToPage(
  request: FastifyRequest,
  config: Config,
  url = request.url,
): { reference: string | null; username: string; isSignedOut: boolean } {
  const value = readCookie(request.headers, config, 'next-page');
  if (!value) return none;
  try {
    const kept = JSON.parse(Buffer.from(value, 'base64url').toString()) as Record<string, unknown>;
    const { reference, at, username, out } = kept;
    if (typeof username !== 'string' || [...username].length > longestUsername || !username.isWellFormed()) return none;
    const isItsPage = typeof reference === 'string' && at === pageKey(config, url);
    return {
      reference: isItsPage ? referenceOfText(reference) : null,
      username,
      isSignedOut: out === true,
    };
  } catch {
    return none;
  }
}

function pageKey({ basePath }: Config, url: string): string {
  const { path, search } = splitUrl(url);
  const below = path.startsWith(basePath) ? path.slice(basePath.length) : path;
  const screen = accountSectionOf(below) === null ? pathOfScreen(screenOfPath(below)) : below;
  const reason = reasonOfSearch(search);
  return reason === null ? screen : `${screen}?${reason}`;
}
