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

/** The longest id of a passkey that a cookie carries to the page of its refusal, in base64url; most have 16 to 64 bytes. */
const unknownPasskeyKept = 200;

/**
 * What a refusal leaves in the visitor's own browser for the next pages; never in an address or a log. The reference is
 * only for the page of this refusal, at `url`: elsewhere it would refer to something else.
 */
type LastRefusal = { username: string } & (
  | { reference: string; url: string /** Its id in base64url. */; unknownPasskey?: string | null }
  | { reference: null /** The first page after a sign-out is told of it. */; isSignedOut?: boolean }
);

export function setLastRefusal(reply: FastifyReply, config: Config, refusal: LastRefusal): void {
  const { username, reference } = refusal;
  const at = refusal.reference === null ? undefined : pageKey(config, refusal.url);
  const out = refusal.reference === null ? refusal.isSignedOut || undefined : undefined;
  const id = refusal.reference === null ? null : refusal.unknownPasskey;
  const unknown = id && id.length <= unknownPasskeyKept ? id : undefined;
  const value = Buffer.from(JSON.stringify({ reference, at, username, unknown, out })).toString('base64url');
  setCookie(reply, config, 'refusal', value, limits.refusalLifetime);
}

export function clearLastRefusal(request: FastifyRequest, reply: FastifyReply, config: Config): void {
  if (readCookie(request.headers, config, 'refusal') !== null) clearCookie(reply, config, 'refusal');
}

const none = { reference: null, username: '', unknownPasskey: null, isSignedOut: false };

/** What the last refusal left for the page of `url`, as sent by the browser; ignored if unreadable. */
export function readLastRefusal(
  request: FastifyRequest,
  config: Config,
  url = request.url,
): { reference: string | null; username: string; unknownPasskey: string | null; isSignedOut: boolean } {
  const value = readCookie(request.headers, config, 'refusal');
  if (!value) return none;
  try {
    const kept = JSON.parse(Buffer.from(value, 'base64url').toString()) as Record<string, unknown>;
    const { reference, at, username, unknown, out } = kept;
    if (typeof username !== 'string' || [...username].length > longestUsername || !username.isWellFormed()) return none;
    const isItsPage = typeof reference === 'string' && at === pageKey(config, url);
    return {
      reference: isItsPage ? referenceOfText(reference) : null,
      username,
      unknownPasskey: isItsPage && typeof unknown === 'string' && /^[\w-]{1,200}$/.test(unknown) ? unknown : null,
      isSignedOut: out === true,
    };
  } catch {
    return none;
  }
}

/** Identifies the page of a refusal: the screen, and its reason. */
function pageKey({ basePath }: Config, url: string): string {
  const { path, search } = splitUrl(url);
  const below = path.startsWith(basePath) ? path.slice(basePath.length) : path;
  const screen = accountSectionOf(below) === null ? pathOfScreen(screenOfPath(below)) : below;
  const reason = reasonOfSearch(search);
  return reason === null ? screen : `${screen}?${reason}`;
}
