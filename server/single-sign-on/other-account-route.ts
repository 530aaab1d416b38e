import type { FastifyReply, FastifyRequest } from 'fastify';
import { defaultDestination } from '#contract/destination.ts';
import { OtherAccountForm } from '#contract/payloads.ts';
import type { Deps } from '../deps/deps.ts';
import type { FormKeeper } from '../http/form-again.ts';
import { refuse } from '../http/refuse.ts';
import { queryValue } from '../http/request-url.ts';
import { endVisit, visitTokenHash } from '../http/visit-cookies.ts';
import { limits } from '../limits.ts';
import { isUuid } from '../names/is-uuid.ts';
import { tokenHash } from '../secrets/token.ts';
import { turnOfEndedSession } from '../session/turn-of-ended-session.ts';
import { findSsoConnection } from '../storage/sso-connection.ts';
import { findSsoRequest, type SsoRequestRow, takeQuestion } from '../storage/sso-request.ts';
import { knownVisitorOf } from '../visitor/visitor.ts';
import { tooLongAgo } from './authentication-age.ts';
import { refused, signIn } from './decide.ts';
import { decline } from './decline-question.ts';
import { giveOutcome } from './give-outcome.ts';
import { type Refusal, refusalFor } from './identity.ts';
import {
  askAnew,
  hasLeft,
  isAskedHere,
  openQuestion,
  questionUrl,
  recordQuestion,
  signedInHere,
} from './other-account.ts';
import { isUnderWay, keepOutcome, keptOutcome, type Outcome } from './outcome.ts';
import { detailsOf } from './request-details.ts';
import { toForm } from './to-form.ts';
import { isSessionOf } from './visits.ts';

/**
 * `GET authenticate/other-account`: a provider's answer would replace the person signed in here, or may be the previous
 * person's. Changes nothing and may be loaded again (docs/decisions/0029).
 */
export function otherAccountRoute(deps: Deps) {
  return async function otherAccount(request: FastifyRequest, reply: FastifyReply) {
    const visitor = await knownVisitorOf(deps, request, reply);
    if (!visitor) return reply;
    const { address } = visitor;
    const id = queryValue(request, 'request') ?? '';
    const row = isUuid(id) ? await findSsoRequest(deps.sql, id) : null;
    const question = row && openQuestion(deps, request, row);
    const here = question && (await signedInHere(deps, request));
    if (!question || hasLeft(question, here)) return await answeredBefore(deps, request, reply, { row, address });
    const connection = row && (await findSsoConnection(deps.sql, row.connectionId));
    if (!connection) return toForm(deps, request, reply, 'signInExpired');
    return await deps.pages.send(request, reply, 200, {
      serverPage: {
        name: 'otherAccount',
        request: id,
        provider: connection.name,
        other: question.username,
        account: here && here.username !== question.username ? here.username : null,
        goesOnTo: defaultDestination(deps.config.basePath),
      },
    });
  };
}

export const goOnAsOtherSchema = { body: OtherAccountForm };

/**
 * `POST authenticate/other-account`: its buttons, on our own page. One ends the visit as the provider said; the other ends the
 * question, and the next visit asks the provider for a fresh sign-in: the session there is somebody else's.
 */
export function goOnAsOtherRoute(deps: Deps) {
  return async function goOnAsOther(request: FastifyRequest<{ Body: OtherAccountForm }>, reply: FastifyReply) {
    const { request: id, answer } = request.body;
    const visitor = await knownVisitorOf(deps, request, reply);
    if (!visitor) return reply;
    const { address } = visitor;
    if (turnOfEndedSession(deps, request, reply, await visitor.who()))
      return toForm(deps, request, reply, 'signInExpired');
    const asked = isUuid(id) ? await findSsoRequest(deps.sql, id) : null;
    if (answer === 'no') return await decline(deps, request, reply, { row: asked, visitor });
    const question = asked && openQuestion(deps, request, asked);
    const connection = asked && (await findSsoConnection(deps.sql, asked.connectionId));
    if (!question || !connection) return await answeredBefore(deps, request, reply, { row: asked, address });
    const here = await signedInHere(deps, request);
    // The response with the question was read only after a sign-out, or another press has just replaced them: the page
    // tells these apart, as it reads the question again.
    if (hasLeft(question, here)) return reply.redirect(questionUrl(deps, id), 303);
    const why = { ...question, doubt: null, connection, address };
    // They agreed to leave another account than the one that is open by now.
    if (here && here.userId !== question.here?.userId && here.username !== question.username) {
      await askAnew(deps, request, asked, { ...why, here });
      return reply.redirect(questionUrl(deps, id), 303);
    }
    const now = deps.now();
    const decidedBy = new Date(now.getTime() + limits.answerRead);
    const row = await takeQuestion(deps.sql, id, asked.questionHash as Buffer, { now, decidedBy });
    if (!row) return reply.redirect(questionUrl(deps, id), 303);
    const { questionEndsAt } = asked;
    const visit = { row: { ...row, questionEndsAt }, details: detailsOf(deps.keys, row), connection, address };
    const no = async (refusal: Refusal) =>
      await refused(deps, request, reply, { ...visit, protocol: connection.protocol }, refusal);
    const tooOld = tooLongAgo(connection, question.identity, now);
    let outcome: Outcome | null;
    if (!connection.active) outcome = await no(refusalFor('connection-disabled', 'while the visitor was asked'));
    else if (tooOld) outcome = await no(refusalFor('authentication-too-old', tooOld));
    else {
      await recordQuestion(deps, request, 'account-change-agreed', { ...why, here });
      // If the answer means another user by now, the page asks once more, naming that one.
      outcome = await signIn(deps, request, visit, { identity: question.identity, agreedTo: question.username });
    }
    if (!outcome) return reply;
    await keepOutcome(deps, id, outcome);
    return await giveOutcome(deps, request, reply, visit, { outcome, address });
  };
}

/** While the database is down its button stays, in the browser that was asked; nothing was decided. */
export function goOnAsOtherAgain(deps: Deps): FormKeeper {
  return async function giveAgain(request, reply, wait) {
    const { request: id = '', answer } = (request.body ?? {}) as Partial<OtherAccountForm>;
    const isHere = isUuid(id) && visitTokenHash(request, deps.config, tokenHash(id)) !== null;
    const again = isHere
      ? ({ call: 'goOnAsOther', fields: { request: id, ...(answer && { answer }) } } as const)
      : undefined;
    return await refuse(deps, request, reply, 503, { ...wait, again });
  };
}

/** A second press, or a page loaded again: for some seconds it gets the first one's result, later the form. */
async function answeredBefore(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  { row, address }: { row: SsoRequestRow | null; address: string },
): Promise<FastifyReply> {
  if (row && isAskedHere(deps, request, row)) {
    if (isUnderWay(row, deps.now())) {
      if (request.method === 'POST') return reply.redirect(questionUrl(deps, row.id), 303);
      return await deps.pages.send(request, reply, 200, { serverPage: { name: 'oneMoment', url: request.url } });
    }
    const outcome = await keptOutcome(deps, row);
    if (outcome && outcome.kind !== 'asked') {
      const connection = await findSsoConnection(deps.sql, row.connectionId);
      const visit = { row, details: detailsOf(deps.keys, row), connection };
      return await giveOutcome(deps, request, reply, visit, { outcome, address });
    }
    endVisit(request, reply, deps.config, tokenHash(row.id));
    endVisit(request, reply, deps.config, row.stateHash);
  }
  // Back, or pressed again, after it has signed them in.
  const details = row && detailsOf(deps.keys, row);
  if (details && (await isSessionOf(deps, request, row))) return reply.redirect(details.destination, 303);
  return toForm(deps, request, reply, 'signInExpired');
}
