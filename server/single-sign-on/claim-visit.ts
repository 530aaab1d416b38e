import type { FastifyReply } from 'fastify';
import { defaultDestination, destinationInLanguage } from '#contract/destination.ts';
import type { Keys } from '../crypto/keys.ts';
import { unseal } from '../crypto/keys.ts';
import { isToken, tokenHash } from '../crypto/token.ts';
import type { Deps } from '../deps.ts';
import { secondFactorUrl } from '../factors/second-factor-page.ts';
import { endVisit, findVisit, takeVisit, type Visit, visitPlace, visitTokenHash } from '../sessions/visit.ts';
import { visitorOf } from '../sessions/visitor.ts';
import { fail } from './fail.ts';
import { refusalFor } from './provider-answer.ts';
import { findSsoConnection, type SsoConnection } from './sso-connection.ts';

/** What the answer of a SAML provider is compared with. */
export type SamlKept = { requestId: string };

/** What is kept of a visit to an OpenID provider until its answer arrives. */
export type OidcKept = {
  nonce: string;
  verifier: string;
  redirectUri: string;
};

/** What is kept of a visit to a provider until it ends. */
export type VisitDetails = {
  url: string;
  /** Fields to post there, if the provider accepts no redirects. */
  fields: Record<string, string> | null;
  destination: string;
  lang: string | null;
  /** The typed address, to be filled in again; null if none was typed. */
  typed: string | null;
  kept: OidcKept | SamlKept;
};

/** The details of a visit; null if no current secret opens them. */
export function detailsOf(keys: Keys, { id, sealedDetails }: Visit): VisitDetails | null {
  const text = unseal(keys.seal, sealedDetails, visitPlace(id));
  return text === null ? null : (JSON.parse(text) as VisitDetails);
}

/** What the visitor asked for: where to go, in which language, and the address they typed. */
export function askedOf({ destination, lang, typed }: VisitDetails) {
  return { destination, lang: lang ?? undefined, typed };
}

type Protocol = SsoConnection['protocol'];

/** A visit that this request alone has taken, with its connection as it was when the visit began. */
export type ClaimedVisit<C extends SsoConnection = SsoConnection> = {
  visit: Visit;
  details: VisitDetails;
  connection: C;
};

/**
 * Claims the visit that an answer names by its state, before anything else of the answer is read: only in the browser that
 * began it, by its cookie, and once. Null if the request is answered already, since it claims nothing.
 */
export async function claimVisit<P extends Protocol>(
  deps: Deps,
  reply: FastifyReply,
  state: string | null,
  protocol: P,
): Promise<ClaimedVisit<Extract<SsoConnection, { protocol: P }>> | null> {
  const { config, keys, sql } = deps;
  const stateHash = state !== null && isToken(state) ? tokenHash(state) : null;
  const cookieHash = visitTokenHash(reply.request, config);
  const visit = stateHash && cookieHash && (await takeVisit(sql, { stateHash, cookieHash }, deps.now()));
  if (!visit) {
    const known = stateHash && (await findVisit(sql, { stateHash }));
    await nothingToClaim(deps, reply, { visit: known, cookieHash, protocol });
    return null;
  }
  const details = detailsOf(keys, visit);
  const connection = await findSsoConnection(sql, visit.connectionId);
  const refusal = refusalOf(details, connection, protocol);
  if (!refusal) return { visit, details, connection } as ClaimedVisit<Extract<SsoConnection, { protocol: P }>>;
  await fail(deps, reply, refusal, { protocol, connection, ...(details && askedOf(details)) });
  return null;
}

/** Whether the connection changed meanwhile is decided where the session is opened, under its lock. */
function refusalOf(details: VisitDetails | null, connection: SsoConnection | null, protocol: Protocol) {
  if (!details) return refusalFor('request-unknown', 'no current secret can open it');
  if (connection?.active && connection.protocol === protocol) return null;
  return refusalFor('connection-disabled', 'while the visitor was at the provider');
}

/** Another browser's visit ends; this browser's own was used before, or is over. */
async function nothingToClaim(
  deps: Deps,
  reply: FastifyReply,
  { visit, cookieHash, protocol }: { visit: Visit | null; cookieHash: Buffer | null; protocol: Protocol },
): Promise<FastifyReply> {
  const { config, sql } = deps;
  if (visit && cookieHash?.equals(visit.cookieHash)) return await answeredAgain(deps, reply, visit, protocol);
  if (visit) await endVisit(sql, visit.id, deps.now());
  const who = await visitorOf(deps, reply.request).who();
  const isIn = who.kind === 'full';
  if (!visit && isIn) return reply.redirect(defaultDestination(config.basePath), 303);
  const refusal = visit
    ? refusalFor('other-browser', 'this browser brought the answer, but another one began')
    : refusalFor('request-unknown', 'this browser has brought no answer to a visit that is open');
  return await fail(deps, reply, refusal, {
    protocol,
    // It keeps no cookies at all, or none that any page of ours sets.
    ...(reply.request.headers.cookie === undefined && { notice: 'cookiesNeeded' }),
    ...(isIn && { first: defaultDestination(config.basePath) }),
  });
}

/** Loaded again, come too late, or another tab was faster: whoever is signed in goes on, others get their form back. */
async function answeredAgain(deps: Deps, reply: FastifyReply, visit: Visit, protocol: Protocol): Promise<FastifyReply> {
  const { config, keys } = deps;
  const details = detailsOf(keys, visit);
  const { typed, ...asked } = details
    ? askedOf(details)
    : { typed: null, destination: defaultDestination(config.basePath), lang: undefined };
  const who = await visitorOf(deps, reply.request).who();
  if (who.kind === 'full' || who.kind === 'half') {
    const { connectionId } = who.kind === 'full' ? who.session : who.half;
    const isTheirs = connectionId === visit.connectionId;
    const destination = isTheirs ? asked.destination : defaultDestination(config.basePath);
    const onwards =
      who.kind === 'half'
        ? secondFactorUrl(config.basePath, who.half, { destination, lang: asked.lang })
        : destinationInLanguage(destination, config.basePath, asked.lang);
    return reply.redirect(onwards, 303);
  }
  const refusal = refusalFor('request-unknown', 'the visit was used before, or is over');
  return await fail(deps, reply, refusal, { protocol, typed, ...asked });
}
