import { randomUUID } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callUrl } from '#contract/calls.ts';
import { acceptableDestination, defaultDestination } from '#contract/destination.ts';
import { insertAuditEvent } from '../audit/audit-event.ts';
import { seal } from '../crypto/keys.ts';
import { newToken, tokenHash } from '../crypto/token.ts';
import type { Deps } from '../deps.ts';
import { clearCookie } from '../http/cookies.ts';
import { languageOfRequest, languageOverride } from '../http/request-url.ts';
import { limits } from '../limits.ts';
import { leadsToRegistration, type Onwards } from '../sessions/destination.ts';
import {
  asksForFreshSignIn,
  forgetConnection,
  freshSignInAsked,
  insertVisit,
  markBrowser,
  visitPlace,
} from '../sessions/visit.ts';
import { toSingleSignOn } from '../sign-in/answer-sign-in.ts';
import type { VisitDetails } from './claim-visit.ts';
import { fail, type GiveAgain, slowDown } from './fail.ts';
import { type Refusal, refusalFor } from './provider-answer.ts';
import { startSaml } from './saml/sign-in.ts';
import type { SsoConnection } from './sso-connection.ts';

/** What is begun for a visitor. `typed` is the address that was typed, for the provider to fill in. */
type Departure = Onwards & { typed: string | null };

/** Reads where somebody who wants to be sent to a provider goes on; null if already answered, because the address asks too often. */
export async function travellerOf(
  deps: Deps,
  reply: FastifyReply,
  { redirectUrl, giveAgain }: { redirectUrl?: string | undefined; giveAgain?: GiveAgain } = {},
): Promise<Onwards | null> {
  const { config } = deps;
  if (await slowDown(deps, reply, 'visits', giveAgain)) return null;
  const accepted = redirectUrl ? acceptableDestination(redirectUrl, config.destinationRules) : null;
  return { destination: accepted ?? defaultDestination(config.basePath), lang: languageOverride(reply.request) };
}

/**
 * Begins a visit of this browser: stores what its answer must match, and leads to the provider through a page of ours; to the
 * failure page if that is impossible, or to the form if the connection was changed meanwhile.
 */
export async function beginVisit(
  deps: Deps,
  reply: FastifyReply,
  connection: SsoConnection,
  departure: Departure,
): Promise<FastifyReply> {
  const { request } = reply;
  const { config } = deps;
  const { typed, lang } = departure;
  const registers = leadsToRegistration(config, departure.destination);
  // Setting up a factor needs a new sign-in: a provider that only confirms who is signed in proves nothing new.
  const freshSignIn = registers || asksForFreshSignIn(deps, request);
  const state = newToken();
  const started = await start(deps, request, connection, { state, typed, freshSignIn });
  if (started.kind === 'refused') return await cannotBegin(deps, reply, started, { ...departure, connection });
  const { url, fields, kept } = started;
  const details = { url, fields, kept, destination: departure.destination, lang: lang ?? null, typed };
  const id = await store(deps, request, connection, { state, cookieHash: markBrowser(reply, config), details });
  if (id === null) return toSingleSignOn(reply, config, { notice: 'signInExpired', username: typed }, departure);
  freshSignInAsked(deps, reply);
  // Before a registration a remembered device proves nothing either: the visit ends with a code if one is required.
  if (registers) clearCookie(reply, config, 'remembered');
  deps.metrics.singleSignOn.inc({ connection: connection.key, outcome: 'started' });
  const query = new URLSearchParams({ visit: id, ...(lang !== undefined && { lang }) });
  return reply.redirect(`${callUrl(config.basePath, 'ssoLeave')}?${query}`, 303);
}

/** The failure page of a visitor who cannot be sent to a provider. */
export async function cannotBegin(
  deps: Deps,
  reply: FastifyReply,
  refusal: Refusal,
  { connection, ...traveller }: Departure & { connection: SsoConnection | null },
): Promise<FastifyReply> {
  forgetConnection(deps, reply);
  // The page of an unknown domain.
  const protocol = connection?.protocol ?? 'oidc';
  return await fail(deps, reply, refusal, { ...traveller, connection, protocol, isAnswer: false });
}

async function start(
  deps: Deps,
  request: FastifyRequest,
  connection: SsoConnection,
  { state, typed, freshSignIn }: { state: string; typed: string | null; freshSignIn: boolean },
): Promise<({ kind: 'ok' } & Pick<VisitDetails, 'url' | 'fields' | 'kept'>) | Refusal> {
  if (!connection.active) return refusalFor('connection-disabled', 'it is disabled');
  if (connection.protocol === 'saml') return await startSaml(deps, connection, { state, freshSignIn });
  const { startOidc } = await import('./oidc/provider.ts');
  const visit = { state, loginHint: typed || null, language: languageOfRequest(request), freshSignIn };
  return await startOidc(deps, connection, visit);
}

/** Returns the id of the visit, null if the connection was changed or removed while its provider was asked. */
async function store(
  { sql, keys, now }: Deps,
  { id: requestId, address }: FastifyRequest,
  { id: connectionId, version, key, customerKey }: SsoConnection,
  { state, cookieHash, details }: { state: string; cookieHash: Buffer; details: VisitDetails },
): Promise<string | null> {
  const id = randomUUID();
  const madeAt = now();
  return await sql.begin(async (sql) => {
    const isStored = await insertVisit(sql, {
      id,
      stateHash: tokenHash(state),
      cookieHash,
      connectionId,
      connectionVersion: version,
      sealedDetails: seal(keys.seal, JSON.stringify(details), visitPlace(id)),
      madeAt,
      endsAt: new Date(madeAt.getTime() + limits.visit),
    });
    if (!isStored) return null;
    await insertAuditEvent(sql, { event: 'sso-started', connection: key, customerKey, address, requestId }, madeAt);
    return id;
  });
}
