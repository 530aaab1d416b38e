import type { FastifyReply, FastifyRequest } from 'fastify';
import { callUrl } from '#contract/calls.ts';
import type { Deps } from '../deps/deps.ts';
import { clearCookie, readCookie, readTokenCookie } from '../http/cookies.ts';
import { queryValue } from '../http/request-url.ts';
import { endVisit, visitTokenHash } from '../http/visit-cookies.ts';
import { limits } from '../limits.ts';
import { isToken, tokenHash } from '../secrets/token.ts';
import { turnOfEndedSession } from '../session/turn-of-ended-session.ts';
import { findSsoConnection, type SsoConnection } from '../storage/sso-connection.ts';
import {
  endSsoRequestOfOthers,
  findSsoRequestByState,
  type ShownOfVisit,
  type SsoRequestRow,
  takeAnsweredSsoRequest,
} from '../storage/sso-request.ts';
import { knownVisitorOf } from '../visitor/visitor.ts';
import { answerCookie } from './answer-cookie.ts';
import { decide } from './decide.ts';
import { fail, failAtOtherBrowser } from './fail.ts';
import { giveOutcome } from './give-outcome.ts';
import { refusalFor } from './identity.ts';
import { isUnderWay, keepOutcome, keptOutcome } from './outcome.ts';
import { detailsOf, wayOf } from './request-details.ts';
import { toForm } from './to-form.ts';
import { isOfBrowser, isOpen, isSessionOf } from './visits.ts';

/**
 * `GET authenticate/oidc/finish` and `authenticate/saml/finish`: the end of a visit. An earlier request has read the
 * answer, so this one is quick, and its cookies show who is signed in, or has signed out, at this moment. It needs the
 * token of the browser that began, unless the provider began, and that of the browser that brought the answer: if one
 * person sends another to the provider, each of them has only one (docs/decisions/0030).
 */
export function finishRoute(deps: Deps, protocol: SsoConnection['protocol']) {
  const { config, keys, sql } = deps;
  return async function finish(request: FastifyRequest, reply: FastifyReply) {
    const visitor = await knownVisitorOf(deps, request, reply);
    if (!visitor) return reply;
    const { address } = visitor;
    const state = queryValue(request, 'state');
    if (state === null || !isToken(state))
      return await fail(deps, request, reply, refusalFor('request-unknown', 'the answer has no state of ours'), {
        protocol,
        address,
      });
    const shown = shownBy(request, state);
    // A provider's logout, or a sign-out whose response was lost, ended the turn to which this visit belongs. Only the
    // browser that began the visit may act on that here: any site can open this address.
    if (shown.browserHash !== null && turnOfEndedSession(deps, request, reply, await visitor.who())) {
      clearAnswer(request, reply, state);
      return toForm(deps, request, reply, 'signInExpired');
    }
    const now = deps.now();
    const decidedBy = new Date(now.getTime() + limits.answerRead);
    const row = shown.answerHash && (await takeAnsweredSsoRequest(sql, shown, { now, decidedBy }));
    if (!row) return await finishAgain(request, reply, { state, shown, address });
    clearAnswer(request, reply, state);
    const visit = { row, details: detailsOf(keys, row), connection: await findSsoConnection(sql, row.connectionId) };
    const outcome = await decide(deps, request, reply, visitor, visit, protocol);
    if (!outcome) return reply;
    await keepOutcome(deps, row.id, outcome);
    return await giveOutcome(deps, request, reply, visit, { outcome, address });
  };

  /** There is nothing to consume: too early, too late, once more, or by another browser. */
  async function finishAgain(
    request: FastifyRequest,
    reply: FastifyReply,
    { state, shown, address }: { state: string; shown: ShownOfVisit; address: string },
  ): Promise<FastifyReply> {
    const now = deps.now();
    const past = await findSsoRequestByState(sql, shown.stateHash);
    const isOwn = past !== null && isShownOf(past, shown);
    const details = past && detailsOf(keys, past);
    if (isOwn && isUnderWay(past, now))
      return await deps.pages.send(request, reply, 200, { serverPage: { name: 'oneMoment', url: request.url } });
    clearAnswer(request, reply, state);
    const isLedOn = details !== null && past?.usedAt != null && (await isSessionOf(deps, request, past));
    const outcome = isOwn && !isLedOn ? await keptOutcome(deps, past) : null;
    if (isOwn && outcome) {
      const connection = await findSsoConnection(sql, past.connectionId);
      return await giveOutcome(deps, request, reply, { row: past, details, connection }, { outcome, address });
    }
    if (!past || !isOpen(past, now)) endVisit(request, reply, config, shown.stateHash);
    if (isLedOn) return reply.redirect(details.destination, 303);
    if (shown.answerHash && (await endSsoRequestOfOthers(sql, shown, now))) {
      // The browser that brought an OpenID answer had begun: somebody has signed in or out here since.
      if (protocol === 'oidc') return toForm(deps, request, reply, 'signInExpired');
      return await failAtOtherBrowser(deps, request, reply, { protocol, address });
    }
    const way = past && details && isOfBrowser(deps, request, past) ? wayOf(details) : {};
    const refusal = refusalFor('request-unknown', 'this browser has brought no answer to a request that is open');
    return await fail(deps, request, reply, refusal, { protocol, address, ...way });
  }

  function shownBy(request: FastifyRequest, state: string): ShownOfVisit {
    const stateHash = tokenHash(state);
    const answerToken = readTokenCookie(request.headers, config, answerCookie(state));
    const browserHash = visitTokenHash(request, config, stateHash);
    return { stateHash, browserHash, answerHash: answerToken === null ? null : tokenHash(answerToken) };
  }

  function clearAnswer({ headers }: FastifyRequest, reply: FastifyReply, state: string): void {
    if (readCookie(headers, config, answerCookie(state)) !== null) clearCookie(reply, config, answerCookie(state));
  }
}

/** Redirects to the end of a visit. The empty fragment replaces that of the answer's address, which may hold a code. */
export function toFinish(
  { config }: Deps,
  reply: FastifyReply,
  { protocol, state }: { protocol: SsoConnection['protocol']; state: string },
): FastifyReply {
  const url = callUrl(config.basePath, protocol === 'oidc' ? 'oidcFinish' : 'samlFinish');
  return reply.redirect(`${url}?${new URLSearchParams({ state })}#`, 303);
}

/** Whether this browser began the visit and brought its answer, by both tokens. */
function isShownOf(row: SsoRequestRow, { browserHash, answerHash }: ShownOfVisit): boolean {
  if (browserHash === null || answerHash === null) return false;
  return row.browserHash?.equals(browserHash) === true && row.answerHash?.equals(answerHash) === true;
}
