import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../../deps.ts';
import { clearCookie, readCookie, readTokenCookie } from '../../http/cookies.ts';
import { queryValue } from '../../http/request-url.ts';
import { isToken } from '../../secrets/token.ts';
import { arrive } from '../arrive.ts';
import { waitingAnswer } from '../request-details.ts';
import { answerCookie } from './answer-cookie.ts';

/**
 * `GET authenticate/saml/finish`: the answer itself came by a post from another site, without our Lax cookies. This
 * request has them: the token of the browser that brought the answer and, unless the provider began, that of the visit.
 * Both are required: if one person sends another to the provider, each of them has only one.
 */
export function samlFinishRoute(deps: Deps) {
  const { config } = deps;
  return async function samlFinish(request: FastifyRequest, reply: FastifyReply) {
    const { headers } = request;
    const asked = queryValue(request, 'state');
    const state = asked !== null && isToken(asked) ? asked : null;
    const answerToken = state && readTokenCookie(headers, config, answerCookie(state));
    if (state && readCookie(headers, config, answerCookie(state)) !== null)
      clearCookie(reply, config, answerCookie(state));
    return await arrive(deps, request, reply, 'saml', { state, answerToken }, async ({ row }) => {
      const answer = waitingAnswer(deps.keys, row);
      if (answer) return { ok: true, identity: answer.identity };
      return { ok: false, reason: 'request-unknown', words: 'the answer can no longer be read' };
    });
  };
}
