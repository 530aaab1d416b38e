import type { FastifyReply, FastifyRequest } from 'fastify';
import { callUrl } from '#contract/calls.ts';
import { SamlForm } from '#contract/payloads.ts';
import { queryNames } from '#contract/screens.ts';
import type { Deps } from '../../deps/deps.ts';
import { setCookie } from '../../http/cookies.ts';
import { limits } from '../../limits.ts';
import { isToken, tokenHash } from '../../secrets/token.ts';
import { findSsoConnection } from '../../storage/sso-connection.ts';
import { findSsoRequestByState, type SsoRequestRow } from '../../storage/sso-request.ts';
import { knownVisitorOf } from '../../visitor/visitor.ts';
import { answerCookie } from '../answer-cookie.ts';
import { fail } from '../fail.ts';
import { toFinish } from '../finish-route.ts';
import { type Refusal, refusalFor } from '../identity.ts';
import type { SamlKept } from '../request-details.ts';
import { detailsOf } from '../request-details.ts';
import { slowDownForAnswer, slowDownForRequest } from '../slow-down.ts';
import { keepSamlAnswer } from './keep-saml-answer.ts';
import { providerBegan } from './provider-began.ts';
import { readSamlAnswer } from './saml.ts';
import { readSamlField, type XmlReading } from './xml.ts';

export const samlAcsSchema = { body: SamlForm };

/**
 * `POST authenticate/saml/acs`: where SAML providers have their answers posted (SAML bindings §3.5). The post comes
 * from another site without our cookies, so it is fully verified and kept. The browser that brought it gets a token
 * unknown to the person who began, and requests the answer with both (docs/decisions/0017).
 */
export function samlAcsRoute(deps: Deps) {
  return async function samlAcs(request: FastifyRequest<{ Body: SamlForm }>, reply: FastifyReply) {
    const visitor = await knownVisitorOf(deps, request, reply);
    if (!visitor) return reply;
    const { address } = visitor;
    const { SAMLResponse: samlResponse, RelayState: state } = request.body;
    if (!state || !isToken(state)) return await providerBegan(deps, request, reply, { samlResponse, address });
    const row = await findSsoRequestByState(deps.sql, tokenHash(state));
    if (!row) {
      const refusal = refusalFor('request-unknown', 'it answers no request of ours');
      const slow = slowDownForAnswer(refusal.reason);
      return await fail(deps, request, reply, refusal, { protocol: 'saml', address, slow });
    }
    // It may be the same answer, posted twice by a double click: only the browser's next request shows it.
    if (row.usedAt !== null || row.endsAt <= deps.now()) return withToken(reply, { state, token: null });
    if (await slowDownForRequest(row.id)(deps, request, reply, address)) return reply;
    return await asked(request, reply, { row, state, response: readSamlField(samlResponse), address });
  };

  async function asked(
    request: FastifyRequest,
    reply: FastifyReply,
    { row, state, response, address }: { row: SsoRequestRow; state: string; response: XmlReading; address: string },
  ) {
    const details = detailsOf(deps.keys, row);
    const connection = await findSsoConnection(deps.sql, row.connectionId);
    // Another person may have begun: this post has no cookie, so nothing of theirs is shown until one proves it.
    const no = (refusal: Refusal) =>
      fail(deps, request, reply, refusal, {
        protocol: 'saml',
        address,
        connection,
        first: failedUrl(state, refusal),
        slow: slowDownForAnswer(refusal.reason),
      });
    if (!connection?.active || connection.protocol !== 'saml')
      return await no(refusalFor('connection-disabled', 'while the visitor was at the provider'));
    const kept = details?.kept as SamlKept | null;
    if (!kept) return await no(refusalFor('request-unknown', 'the request can no longer be read'));
    const answer = await readSamlAnswer(deps, connection, { response, kept });
    if (answer.kind === 'refused') return await no(answer);
    const token = await keepSamlAnswer(deps, { id: row.id, state }, connection, answer);
    if (token === null) return await no(refusalFor('answer-used', 'the assertion or the request was already used'));
    return withToken(reply, { state, token });
  }

  /** Where the browser that began is recognized by its cookie, and gets back what was typed. */
  function failedUrl(state: string, { isCancelled }: Refusal): string {
    const notice = isCancelled ? { [queryNames.notice]: 'signInCancelled' } : {};
    return `${callUrl(deps.config.basePath, 'samlFailed')}?${new URLSearchParams({ state, ...notice })}`;
  }

  /**
   * The token is in a cookie, so that no address, log or history shows it and nobody can be tricked into sharing it.
   */
  function withToken(reply: FastifyReply, { state, token }: { state: string; token: string | null }): FastifyReply {
    if (token !== null) setCookie(reply, deps.config, answerCookie(state), token, limits.answerWaits);
    return toFinish(deps, reply, { protocol: 'saml', state });
  }
}
