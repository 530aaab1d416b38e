import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config/config.ts';
import { clearCookie, readCookie, setCookie } from '../http/cookies.ts';
import { limits } from '../limits.ts';

/**
 * Marks in the browser that someone signed out: a provider's session may live on, and does not belong to the next
 * person. Until a provider has signed someone in, each is asked to authenticate again (docs/decisions/0029).
 */
export function askAfresh(reply: FastifyReply, config: Config): void {
  setTries(reply, config, 1);
}

/**
 * What a visit after a sign-out needs: a fresh sign-in at the provider or, once that came to nothing, the person's word
 * that they are whom the provider names. Null if nobody has signed out.
 */
export function wishAfterSignOut({ headers }: FastifyRequest, config: Config): 'afresh' | 'confirmed' | null {
  const value = readCookie(headers, config, 'afresh');
  if (value === null) return null;
  return triesOf(value) <= limits.afreshVisits ? 'afresh' : 'confirmed';
}

/** Counts a visit that asks for a fresh sign-in: a provider that fails with a page of its own sends nobody back. */
export function noteAfreshVisit({ headers }: FastifyRequest, reply: FastifyReply, config: Config): void {
  setTries(reply, config, triesOf(readCookie(headers, config, 'afresh') ?? '') + 1);
}

/** The provider answered that it cannot do what it was asked for: the next visit asks for nothing. */
export function giveUpAskingAfresh(reply: FastifyReply, config: Config): void {
  setTries(reply, config, limits.afreshVisits + 1);
}

/** A provider has signed someone in, so the previous person has gone. */
export function endAskingAfresh({ headers }: FastifyRequest, reply: FastifyReply, config: Config): void {
  if (readCookie(headers, config, 'afresh') !== null) clearCookie(reply, config, 'afresh');
}

/** The number of the next visit. Anything strange counts as the first. */
function triesOf(value: string): number {
  return /^[1-9]$/.test(value) ? Number(value) : 1;
}

function setTries(reply: FastifyReply, config: Config, tries: number): void {
  setCookie(reply, config, 'afresh', String(Math.min(tries, limits.afreshVisits + 1)), limits.askedAfresh);
}
