import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Turns } from '#contract/page.ts';
import type { Config } from '../config/config.ts';
import { limits } from '../limits.ts';
import { newToken } from '../secrets/token.ts';
import { clearCookie, readCookie, readTokenCookie, setCookie } from './cookies.ts';
import { giveUpOpenedLinks } from './opened-links.ts';

/**
 * Marks in the browser that someone signed in, or has given up a second factor. Every tab discards a reset link saved earlier:
 * however the session ends, the next person at the browser does not find it (SE-15). Nor is a password of before checked, once
 * nobody is signed in (sign-in/form-of-earlier-turn.ts): its post may wait in the history.
 */
export function beginTurn(request: FastifyRequest, reply: FastifyReply, config: Config): void {
  setCookie(reply, config, 'signed-in', newToken(), limits.turn);
  clearWaitingLink(request, reply, config);
}

/**
 * Marks in the browser that someone signed out: every tab discards everything saved earlier, and no passkey that was asked for
 * answers any more. Returns the mark.
 */
export function endTurn(request: FastifyRequest, reply: FastifyReply, config: Config): string {
  const mark = newToken();
  newMarks.set(request, mark);
  setCookie(reply, config, 'signed-out', mark, limits.turn);
  clearWaitingLink(request, reply, config);
  if (readCookie(request.headers, config, 'passkey') !== null) clearCookie(reply, config, 'passkey');
  return mark;
}

const newMarks = new WeakMap<FastifyRequest, string>();

/** The mark of the last sign-out, as the browser has it once it has read the response; null if there is none. */
export function signedOutMark(request: FastifyRequest, config: Config): string | null {
  return newMarks.get(request) ?? readTokenCookie(request.headers, config, 'signed-out');
}

/** The browser's marks once it has read the response, for the form in it. */
export function turnsOfAnswer(request: FastifyRequest, config: Config): Turns | undefined {
  const turns = turnsOf(request, config);
  const signedOut = signedOutMark(request, config);
  return turns || signedOut !== null ? { signedIn: turns?.signedIn ?? null, signedOut } : undefined;
}

/** Removes a reset link kept in the browser, and withdraws those in its history: they are not for the next person. */
export function clearWaitingLink(request: FastifyRequest, reply: FastifyReply, config: Config): void {
  giveUpOpenedLinks(request);
  if (readCookie(request.headers, config, 'reset') !== null) clearCookie(reply, config, 'reset');
}

/** The last sign-in and sign-out of the browser; undefined if there were none. */
export function turnsOf({ headers }: FastifyRequest, config: Config): Turns | undefined {
  const signedIn = readTokenCookie(headers, config, 'signed-in');
  const signedOut = readTokenCookie(headers, config, 'signed-out');
  return signedIn === null && signedOut === null ? undefined : { signedIn, signedOut };
}
