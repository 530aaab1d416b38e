import type { FastifyReply, FastifyRequest } from 'fastify';
import { callUrl } from '#contract/calls.ts';
import { defaultDestination } from '#contract/destination.ts';
import { destinationInLanguage } from '#contract/destination-in-language.ts';
import type { Deps } from '../deps/deps.ts';
import { clearCookie, readCookie, readTokenCookie } from '../http/cookies.ts';
import { queryValue } from '../http/request-url.ts';
import { visitTokenHash } from '../http/visit-cookie.ts';
import { isToken, tokenHash } from '../secrets/token.ts';
import type { SsoConnection } from '../storage/sso-connection.ts';
import {
  endSsoRequestOfOthers,
  findSsoRequestByState,
  type ShownOfVisit,
  takeAnsweredSsoRequest,
} from '../storage/sso-request.ts';
import { type KnownVisitor, knownVisitorOf } from '../visitor/visitor.ts';
import { answerCookie } from './answer-cookie.ts';
import { decide } from './decide.ts';
import { fail, failAtOtherBrowser } from './fail.ts';
import { refusalFor } from './identity.ts';
import { detailsOf, wayOf } from './request-details.ts';
import { isOfBrowser } from './visits.ts';

/**
 * `GET authenticate/oidc/finish` and `authenticate/saml/finish`: the end of a visit, which is used once. An earlier request
 * has read the answer, so this one is quick, and its cookies show who is signed in at this moment. It needs the token of
 * the browser that began, unless the provider began, and that of the browser that brought the answer: if one person sends
 * another to the provider, each of them has only one (docs/decisions/0030).
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
    const row = shown.answerHash && (await takeAnsweredSsoRequest(sql, shown, deps.now()));
    if (readCookie(request.headers, config, answerCookie(state)) !== null)
      clearCookie(reply, config, answerCookie(state));
    if (row) return await decide(deps, request, reply, visitor, { row, protocol });
    return await nothingToTake(request, reply, visitor, shown);
  };

  /** Too early, too late, once more, or another browser. */
  async function nothingToTake(
    request: FastifyRequest,
    reply: FastifyReply,
    visitor: KnownVisitor,
    shown: ShownOfVisit,
  ): Promise<FastifyReply> {
    const { address } = visitor;
    if (shown.answerHash && (await endSsoRequestOfOthers(sql, shown, deps.now())))
      return await failAtOtherBrowser(deps, request, reply, { protocol, address });
    const visit = await findSsoRequestByState(sql, shown.stateHash);
    const details = visit && detailsOf(keys, visit);
    const who = await visitor.who();
    if (who.kind === 'full') {
      // Loaded again, or their other tab has signed them in by this connection: on to where this one was going.
      const isTheirs = details && who.session.connectionId === visit.connectionId;
      const { destination, lang } = isTheirs
        ? wayOf(details)
        : { destination: defaultDestination(config.basePath), lang: undefined };
      return reply.redirect(destinationInLanguage(destination, config.basePath, lang), 303);
    }
    const way = visit && details && isOfBrowser(deps, request, visit) ? wayOf(details) : null;
    const refusal = refusalFor('request-unknown', 'this browser has brought no answer to a request that is open');
    return await fail(deps, request, reply, refusal, { protocol, address, ...way });
  }

  function shownBy(request: FastifyRequest, state: string): ShownOfVisit {
    const stateHash = tokenHash(state);
    const answerToken = readTokenCookie(request.headers, config, answerCookie(state));
    const browserHash = visitTokenHash(request, config);
    return { stateHash, browserHash, answerHash: answerToken === null ? null : tokenHash(answerToken) };
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
