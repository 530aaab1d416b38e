import type { FastifyReply, FastifyRequest } from 'fastify';
import { defaultDestination } from '#contract/destination.ts';
import type { OtherAccountForm } from '#contract/payloads.ts';
import type { Deps } from '../deps.ts';
import { addressOf } from '../http/guards.ts';
import { refuse } from '../http/refuse.ts';
import { languageOverride, queryValue } from '../http/request-url.ts';
import { endVisit } from '../http/visit-cookies.ts';
import { tokenHash } from '../secrets/token.ts';
import { sessionOfRequest } from '../session/session-of-request.ts';
import { toSingleSignOn } from '../sign-in/let-in.ts';
import { findSsoConnection } from '../storage/sso-connection.ts';
import { findSsoRequest, takeQuestion } from '../storage/sso-request.ts';
import { fail } from './arrive.ts';
import { tooLongAgo } from './authentication-age.ts';
import { isRequestId } from './leave-route.ts';
import { letInByProvider } from './let-in-by-provider.ts';
import { openQuestion, questionHashOf, questionIn } from './other-account.ts';
import { detailsOf, wayOf } from './request-details.ts';

/**
 * `GET authenticate/other-account`: a provider's answer would replace the person signed in here. Changes nothing and
 * may be loaded again (docs/decisions/0029).
 */
export function otherAccountRoute(deps: Deps) {
  return async function otherAccount(request: FastifyRequest, reply: FastifyReply) {
    const id = queryValue(request, 'request') ?? '';
    const row = isRequestId(id) ? await findSsoRequest(deps.sql, id) : null;
    const question = row && openQuestion(deps, request, row);
    const connection = row && question && (await findSsoConnection(deps.sql, row.connectionId));
    if (!connection) return toForm(deps, request, reply);
    const session = await sessionOfRequest(deps, request);
    return await deps.pages.send(request, reply, 200, {
      serverPage: {
        name: 'otherAccount',
        request: id,
        provider: connection.name,
        other: question.username,
        account: session?.stage === 'full' ? session.username : null,
        goesOnTo: defaultDestination(deps.config.basePath),
      },
    });
  };
}

/** `POST authenticate/other-account`: its button, on our own page, ends the visit as the provider said. */
export function goOnAsOtherRoute(deps: Deps) {
  return async function goOnAsOther(request: FastifyRequest<{ Body: OtherAccountForm }>, reply: FastifyReply) {
    const { request: id } = request.body;
    const address = addressOf(deps, request);
    if (!address)
      return await refuse(deps, request, reply, 400, { detail: 'The client address could not be determined.' });
    const hash = isRequestId(id) ? questionHashOf(deps, request, id) : null;
    const row = hash && (await takeQuestion(deps.sql, id, hash, deps.now()));
    const details = row && detailsOf(deps.keys, row);
    const question = row?.sealedQuestion ? questionIn(deps, id, row.sealedQuestion) : null;
    const connection = row && (await findSsoConnection(deps.sql, row.connectionId));
    endVisit(request, reply, deps.config, tokenHash(id));
    if (!row || !details || !question || !connection) return toForm(deps, request, reply);
    const { identity } = question;
    const failure = { protocol: connection.protocol, ...wayOf(details), address, connection };
    if (!connection.active) {
      const refusal = { ok: false, reason: 'connection-disabled', words: 'while the visitor was asked' } as const;
      return await fail(deps, request, reply, refusal, failure);
    }
    const tooOld = tooLongAgo(connection, identity, deps.now());
    if (tooOld) {
      const refusal = { ok: false, reason: 'authentication-too-old', words: tooOld } as const;
      return await fail(deps, request, reply, refusal, failure);
    }
    return await letInByProvider(
      deps,
      request,
      reply,
      { row, details, connection },
      { identity, address, isAgreed: true },
    );
  };
}

function toForm({ config }: Deps, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const way = { destination: defaultDestination(config.basePath), lang: languageOverride(request) };
  return toSingleSignOn(reply, config, { notice: 'signInExpired', username: null }, way);
}
