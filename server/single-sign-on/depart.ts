import type { FastifyReply, FastifyRequest } from 'fastify';
import { acceptableDestination, defaultDestination } from '#contract/destination.ts';
import { happenedSince } from '#contract/turn-of-form.ts';
import type { AuditStep } from '../audit/audit-events.ts';
import type { Deps } from '../deps/deps.ts';
import { clearCookie } from '../http/cookies.ts';
import { languageOfRequest, languageOverride } from '../http/request-url.ts';
import { turnsOf } from '../http/turns.ts';
import { beginVisit } from '../http/visit-cookies.ts';
import { turnOfEndedSession } from '../session/turn-of-ended-session.ts';
import { recordRefusedDestination } from '../sign-in/record-refused-destination.ts';
import { toSingleSignOn } from '../sign-in/to-single-sign-on.ts';
import { turnAway } from '../sign-in/turn-away.ts';
import type { SsoConnection } from '../storage/sso-connection.ts';
import { noteAfreshVisit, wishAfterSignOut } from '../visitor/ask-afresh.ts';
import { leadsToRegistration } from '../visitor/leads-to-registration.ts';
import { forgetConnection } from '../visitor/remembered-connection.ts';
import { knownVisitorOf } from '../visitor/visitor.ts';
import { beginSingleSignOn } from './begin.ts';
import type { Refusal } from './identity.ts';
import { recordSsoFailure } from './record-failure.ts';
import { type GiveAgain, slowDown } from './slow-down.ts';

/**
 * A visitor on the way to a provider. `signedOut`: the session in this browser was signed out elsewhere, and this is
 * the first request since, which gives the browser this mark.
 */
export type Traveller = { address: string; destination: string; lang: string | undefined; signedOut?: string };

/**
 * Reads who wants to be sent to a provider; null if already answered, because the address is unknown or asks too often.
 * A form that was open before the turn ended has the earlier person's destination.
 */
export async function travellerOf(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  {
    redirectUrl,
    formTurn,
    giveAgain,
  }: { redirectUrl?: string | undefined; formTurn?: string | undefined; giveAgain?: GiveAgain } = {},
): Promise<Traveller | null> {
  const { config } = deps;
  const visitor = await knownVisitorOf(deps, request, reply);
  if (!visitor) return null;
  const { address } = visitor;
  const endTurn = async () => turnOfEndedSession(deps, request, reply, await visitor.who());
  // Only before a form is given again: a flood of scripts costs no further statement.
  const giveInTurn: GiveAgain | undefined =
    giveAgain &&
    (async (wait) => {
      await endTurn();
      return await giveAgain(wait);
    });
  if (await slowDown(deps, request, reply, address, giveInTurn)) return null;
  const lang = languageOverride(request);
  const signedOut = await endTurn();
  if (signedOut !== null) return { address, destination: defaultDestination(config.basePath), lang, signedOut };
  if (happenedSince(formTurn, visitor.turns) === 'signOut')
    return { address, destination: defaultDestination(config.basePath), lang };
  const accepted = redirectUrl ? acceptableDestination(redirectUrl, config.destinationRules) : null;
  if (redirectUrl && !accepted) await recordRefusedDestination(deps, request, address);
  return { address, destination: accepted ?? defaultDestination(config.basePath), lang };
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
  {
    typed,
    providerBegan = false,
    isAfresh = false,
    signedOut,
    ...traveller
  }: Traveller & { typed: string | null; providerBegan?: boolean; isAfresh?: boolean },
): Promise<FastifyReply> {
  const { config } = deps;
  const wish = signedOut ? 'afresh' : wishAfterSignOut(request, config, connection);
  const registers = leadsToRegistration(config, traveller.destination);
  const begun = await beginSingleSignOn(deps, connection, {
    ...traveller,
    language: languageOfRequest(request),
    typed,
    providerBegan,
    // Setting up a factor needs a new sign-in: a provider that only confirms who is signed in proves nothing new.
    isAfresh: isAfresh || wish === 'afresh' || registers,
    isAfterSignOut: wish !== null,
    signedOut: signedOut ?? turnsOf(request, config)?.signedOut ?? null,
    requestId: request.id,
  });
  if (begun.kind === 'changed')
    return toSingleSignOn(reply, config, { notice: 'signInExpired', username: typed }, traveller);
  if (begun.kind === 'refused') return await stay(deps, request, reply, begun, { ...traveller, connection, typed });
  // The end of the turn has set the wish that later visits count from.
  if (wish === 'afresh' && !signedOut) noteAfreshVisit(request, reply, config);
  beginVisit(request, reply, config, begun);
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
