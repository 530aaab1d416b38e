import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Notice } from '#contract/notices.ts';
import type { SendForm } from '#contract/payloads.ts';
import { queryNames, screenUrl } from '#contract/screens.ts';
import type { Deps } from '../deps/deps.ts';
import { sendProblem } from '../http/refuse.ts';
import { languageOverride, wantsPage } from '../http/request-url.ts';
import { limits } from '../limits.ts';
import { placeOfVisitor } from '../mail/queue-mail.ts';
import { visitorOf } from '../visitor/visitor.ts';
import { type SendResult, sendEmailCode } from './send-email-code.ts';

/** `POST two-factor-authentication/send`: a new code by email, replacing the previous one; answers how long to wait. */
export function sendRoute(deps: Deps) {
  const { config } = deps;

  return async function send(request: FastifyRequest<{ Body: SendForm | null }>, reply: FastifyReply) {
    const result = await sendAnother(request);
    if (wantsPage(request)) return answerPerson(request, reply, result);
    if (!result) return sendProblem(reply, 401, { notice: 'signInExpired' });
    if (result.kind === 'sent') {
      return reply
        .code(204)
        .header('retry-after', String(limits.emailCodeSendEvery / 1000))
        .send();
    }
    const { retryAfter } = result;
    if (retryAfter !== null) reply.header('retry-after', String(Math.ceil(retryAfter / 1000)));
    const notice = noticeOf(result);
    return sendProblem(reply, 429, notice === undefined ? {} : { notice });
  };

  /** Null if no half session waits for a code by email. */
  async function sendAnother(request: FastifyRequest<{ Body: SendForm | null }>): Promise<SendResult | null> {
    const { address, userAgent, language, who } = visitorOf(deps, request);
    const found = await who();
    if (!address || found.kind !== 'half') return null;
    const { half } = found;
    if (half.factor !== 'email' || half.codeTries >= limits.codeTries) return null;
    const reader = { ...half, id: half.userId };
    const way = { ...placeOfVisitor({ address, userAgent, language }), endsBy: half.endsAt };
    return await sendEmailCode(deps, half.id, reader, way);
  }

  function answerPerson(
    request: FastifyRequest<{ Body: SendForm | null }>,
    reply: FastifyReply,
    result: SendResult | null,
  ): FastifyReply {
    const asked = request.body?.redirectURL || undefined;
    const lang = languageOverride(request);
    if (!result) {
      const over = { [queryNames.notice]: 'signInExpired', [queryNames.destination]: asked, lang };
      return reply.redirect(screenUrl(config.basePath, 'login', over), 303);
    }
    const query = {
      [queryNames.redirectUrl]: asked,
      [queryNames.codeSentViaEmail]: 'true',
      [queryNames.notice]: noticeOf(result),
      lang,
    };
    return reply.redirect(screenUrl(config.basePath, 'twoFactor', query), 303);
  }
}

/** The notice about it; if no more are sent, the page itself says so. */
function noticeOf(result: SendResult): Notice | undefined {
  if (result.kind === 'sent') return 'codeSent';
  if (result.of === 'account') return 'codeNotSent';
  return result.retryAfter === null ? undefined : 'codeTooSoon';
}
