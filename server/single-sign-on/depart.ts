import type { FastifyReply, FastifyRequest } from 'fastify';
import { acceptableDestination, defaultDestination } from '#contract/destination.ts';
import type { AuditStep } from '../audit/audit-events.ts';
import type { Deps } from '../deps/deps.ts';
import { clearCookie } from '../http/cookies.ts';
import { languageOfRequest, languageOverride } from '../http/request-url.ts';
import { beginVisit } from '../http/visit-cookie.ts';
import { recordRefusedDestination } from '../sign-in/destination-of-form.ts';
import { toSingleSignOn } from '../sign-in/to-single-sign-on.ts';
import { turnAway } from '../sign-in/turn-away.ts';
import type { SsoConnection } from '../storage/sso-connection.ts';
import { leadsToRegistration } from '../visitor/destination.ts';
import { asksAfresh, clearAfresh, forgetConnection } from '../visitor/remembered-connection.ts';
import { knownVisitorOf } from '../visitor/visitor.ts';
import { beginSingleSignOn } from './begin.ts';
import type { Refusal } from './identity.ts';
import { recordSsoFailure } from './record-failure.ts';
import { type GiveAgain, slowDown } from './slow-down.ts';

/** A visitor on the way to a provider. */
type Traveller = { address: string; destination: string; lang: string | undefined };

/** Reads who wants to be sent to a provider; null if already answered, because the address is unknown or asks too often. */
export async function travellerOf(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  { redirectUrl, giveAgain }: { redirectUrl?: string | undefined; giveAgain?: GiveAgain } = {},
): Promise<Traveller | null> {
  const { config } = deps;
  const visitor = await knownVisitorOf(deps, request, reply);
  if (!visitor) return null;
  const { address } = visitor;
  if (await slowDown(deps, request, reply, address, giveAgain)) return null;
  const accepted = redirectUrl ? acceptableDestination(redirectUrl, config.destinationRules) : null;
  if (redirectUrl && !accepted) await recordRefusedDestination(deps, request, address);
  return { address, destination: accepted ?? defaultDestination(config.basePath), lang: languageOverride(request) };
}

/**
 * Sends a visitor to a provider through a page of ours, or to the failure page if that is impossible; to the form, if the
 * connection was changed meanwhile.
 */
export async function depart(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  connection: SsoConnection,
  { typed, isAfresh = false, ...traveller }: Traveller & { typed: string | null; isAfresh?: boolean },
): Promise<FastifyReply> {
  const { config } = deps;
  const registers = leadsToRegistration(config, traveller.destination);
  const begun = await beginSingleSignOn(deps, connection, {
    ...traveller,
    language: languageOfRequest(request),
    typed,
    // Setting up a factor needs a new sign-in: a provider that only confirms who is signed in proves nothing new.
    isAfresh: isAfresh || registers || asksAfresh(deps, request),
    browserHash: beginVisit(request, reply, config),
    requestId: request.id,
  });
  if (begun.kind === 'changed')
    return toSingleSignOn(reply, config, { notice: 'signInExpired', username: typed }, traveller);
  if (begun.kind === 'refused') return await stay(deps, request, reply, begun, { ...traveller, connection, typed });
  clearAfresh(deps, request, reply);
  // Nor does a remembered device, so the visit ends with a code if one is required.
  if (registers) clearCookie(reply, config, 'remembered');
  const lang = traveller.lang === undefined ? '' : `&lang=${traveller.lang}`;
  return reply.redirect(begun.leaveUrl + lang, 303);
}

/** The failure page of a visitor who cannot be sent to a provider. */
export async function stay(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  { reason, words }: Refusal,
  { connection, typed, ...traveller }: Traveller & { connection: SsoConnection | null; typed: string | null },
): Promise<FastifyReply> {
  const steps: AuditStep[] = [{ step: 'start', outcome: words }];
  const { address } = traveller;
  const reference = await recordSsoFailure(deps, { reason, connection, steps, address, requestId: request.id });
  forgetConnection(deps, request, reply);
  const type = connection?.protocol ?? 'oidc';
  return turnAway(reply, deps.config, { type, reference, username: typed ?? '' }, traveller);
}
