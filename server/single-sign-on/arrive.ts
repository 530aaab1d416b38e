import type { FastifyReply, FastifyRequest } from 'fastify';
import { defaultDestination } from '#contract/destination.ts';
import type { AuditStep } from '../audit/audit-events.ts';
import type { Deps } from '../deps.ts';
import { addressOf } from '../http/guards.ts';
import { refuse } from '../http/refuse.ts';
import { endVisit, visitTokenHash } from '../http/visit-cookies.ts';
import { isToken, tokenHash } from '../secrets/token.ts';
import { turnAway } from '../sign-in/let-in.ts';
import { findSsoConnection, type SsoConnection } from '../storage/sso-connection.ts';
import { findSsoRequestByState } from '../storage/sso-request.ts';
import { tooLongAgo } from './authentication-age.ts';
import { depart } from './depart.ts';
import type { ProviderAnswer, Refusal } from './identity.ts';
import { letInByProvider } from './let-in-by-provider.ts';
import { openQuestion, questionUrl } from './other-account.ts';
import { providerBeganUrl } from './provider-began-route.ts';
import { recordSsoFailure } from './record-failure.ts';
import { forgetConnection } from './remembered-connection.ts';
import { detailsOf, type SamlKept, wayOf } from './request-details.ts';
import { slowDown, slowDownForFailure } from './slow-down.ts';
import { takeVisit } from './take-visit.ts';
import { isOfBrowser, isOpen, isSessionOf, type Visit } from './visits.ts';

type Protocol = SsoConnection['protocol'];

/** Reads a protocol's answer once the visit it belongs to is known. */
export type ReadAnswer = (visit: Visit) => Promise<ProviderAnswer>;

/** What a browser sends at the end of a visit, besides the visit's cookie. `answerToken` is for SAML. */
type Shown = { state: string | null; answerToken?: string | null };

/**
 * Ends a visit to a provider: consumes the request named by `state` if this browser began it and brought the answer,
 * reads the answer, and signs in, asks first, or shows the failure page. An answer loaded again redirects as before, in
 * the session it created. An unsolicited one signs nobody in: it leads to a page that asks (docs/decisions/0021).
 */
export async function arrive(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  protocol: Protocol,
  { state, answerToken = null }: Shown,
  readAnswer: ReadAnswer,
): Promise<FastifyReply> {
  const { config, sql } = deps;
  const address = addressOf(deps, request);
  if (!address)
    return await refuse(deps, request, reply, 400, { detail: 'The client address could not be determined.' });
  if (state === null || !isToken(state)) {
    const refusal = { ok: false, reason: 'request-unknown', words: 'the answer has no state of ours' } as const;
    return await fail(deps, request, reply, refusal, { protocol, address });
  }
  const stateHash = tokenHash(state);
  const visit = { state: stateHash, browser: visitTokenHash(request, config, stateHash) };
  const taken = await takeVisit(
    deps,
    protocol === 'saml' ? { protocol, ...visit, answerToken } : { protocol, ...visit },
  );
  if (!taken.ok) {
    const past = await findSsoRequestByState(sql, stateHash);
    const details = past && detailsOf(deps.keys, past);
    if (!past || !isOpen(past, deps.now())) endVisit(request, reply, config, stateHash);
    if (details && past.usedAt && (await isSessionOf(deps, request, past)))
      return reply.redirect(details.destination, 303);
    if (past && openQuestion(deps, request, past)) return reply.redirect(questionUrl(deps, past.id), 303);
    const way = past && details && isOfBrowser(deps, request, past) ? wayOf(details) : {};
    return await fail(deps, request, reply, taken, { protocol, address, ...way });
  }
  endVisit(request, reply, config, stateHash);
  const { row } = taken;
  const details = detailsOf(deps.keys, row);
  const connection = await findSsoConnection(sql, row.connectionId);
  if (!details) {
    const refusal = { ok: false, reason: 'request-unknown', words: 'no current secret can open it' } as const;
    return await fail(deps, request, reply, refusal, { protocol, address, connection });
  }
  const way = { ...wayOf(details), address };
  if (!connection?.active || connection.protocol !== protocol) {
    const refusal = {
      ok: false,
      reason: 'connection-disabled',
      words: 'while the visitor was at the provider',
    } as const;
    return await fail(deps, request, reply, refusal, { protocol, ...way, connection });
  }
  const sendBack = async (departure: { typed: string | null; isAfresh?: boolean }) =>
    (await slowDown(deps, request, reply, address))
      ? reply
      : await depart(deps, request, reply, connection, { ...way, ...departure });
  // The provider, or someone else, chose whose answer this is: the person is asked before anything happens.
  if (row.browserHash === null) return reply.redirect(providerBeganUrl(deps, connection), 303);
  const answer = await readAnswer({ row, details, connection });
  if (!answer.ok) return await fail(deps, request, reply, answer, { protocol, ...way, connection });
  const tooOld = tooLongAgo(connection, answer.identity, deps.now());
  if (tooOld) {
    // SAML cannot express a maximum age: a person the provider did not ask again is sent back to be asked.
    const isAsked = protocol === 'oidc' || (details.kept as SamlKept | null)?.isAfresh === true;
    if (!isAsked) return await sendBack({ typed: details.typed, isAfresh: true });
    const refusal = { ok: false, reason: 'authentication-too-old', words: tooOld } as const;
    return await fail(deps, request, reply, refusal, { protocol, ...way, connection });
  }
  const { identity } = answer;
  return await letInByProvider(deps, request, reply, { row, details, connection }, { identity, address });
}

/** The failure page of an answer, over `first` if given; only the operator sees why. */
export async function fail(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  { reason, words, isCancelled }: Refusal,
  {
    protocol,
    address,
    connection = null,
    destination = defaultDestination(deps.config.basePath),
    lang,
    typed = null,
    first,
    slow = slowDownForFailure,
  }: {
    protocol: Protocol;
    address: string;
    connection?: SsoConnection | null;
    destination?: string;
    lang?: string | undefined;
    typed?: string | null;
    first?: string;
    slow?: typeof slowDown;
  },
): Promise<FastifyReply> {
  if (await slow(deps, request, reply, address)) return reply;
  if (connection) forgetConnection(deps, request, reply);
  const steps: AuditStep[] = [{ step: 'answer', outcome: words }];
  const reference = await recordSsoFailure(deps, { reason, connection, steps, address, requestId: request.id });
  return turnAway(
    reply,
    deps.config,
    { type: protocol, reference, username: typed ?? '', ...(isCancelled && { notice: 'signInCancelled' }) },
    { destination, lang, address, first },
  );
}
