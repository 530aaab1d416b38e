import { errorCodes, type FastifyError, type FastifyReply, type FastifyRequest } from 'fastify';
import { problemStatuses } from '#contract/page.ts';
import { WorkQueueFull } from '../crypto/password-hash.ts';
import { isDatabaseAway } from '../database/connect.ts';
import type { Deps } from '../deps.ts';
import { second } from '../limits.ts';
import { notFound } from './not-found.ts';
import { refuse, sendProblem } from './refuse.ts';
import { UnreadableBody } from './request-body.ts';
import { wantsPage } from './request-url.ts';

/** The only place that decides what a visitor may see of an error. */
export function unexpectedError(deps: Deps) {
  const answerNotFound = notFound(deps);

  return async function handleError(
    error: FastifyError,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    const retryAfter = retryAfterOf(error);
    if (retryAfter !== null) {
      logTemporary(request, error);
      const { formAgain } = request.routeOptions.config;
      if (formAgain && wantsPage(request)) return await formAgain(request, reply, { retryAfter });
      return await refuse(deps, request, reply, 503, { retryAfter });
    }
    if (error instanceof UnreadableBody) {
      const { statusCode, message: detail, field } = error;
      return await refuse(deps, request, reply, statusCode, { detail, ...(field && { field }) });
    }
    if (error.validation) return await refuse(deps, request, reply, 400, validationDetail(error));
    if (error.code === 'FST_STATIC_FORBIDDEN_PATH') return await answerNotFound(request, reply);
    if (error.statusCode === 416) return sendProblem(reply, 416);
    const status = problemStatuses.find((known) => known === error.statusCode && known < 500);
    if (status) return await refuse(deps, request, reply, status);
    if (error.statusCode && error.statusCode < 500) return await refuse(deps, request, reply, 400);
    request.log.error({ err: error }, 'unexpected error');
    return await refuse(deps, request, reply, 500);
  };
}

function validationDetail({ validation }: FastifyError): { detail: string; field?: string } {
  const [first] = validation ?? [];
  const missing = first?.params?.missingProperty ?? (first?.params?.requiredProperties as string[] | undefined)?.[0];
  const field = typeof missing === 'string' ? missing : first?.instancePath.slice(1);
  return { detail: `${field || 'The request'} ${first?.message ?? 'is not valid'}`, ...(field && { field }) };
}

const busyRetryAfter = 5 * second;

const databaseRetryAfter = 5 * second;

/** After how many milliseconds to retry an error that resolves itself; null if it does not. */
function retryAfterOf(error: unknown): number | null {
  if (error instanceof WorkQueueFull) return busyRetryAfter;
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown };
  // A database that went silent during a statement gives no error code at all.
  if (code === 'FST_ERR_HANDLER_TIMEOUT') return databaseRetryAfter;
  // A client that disconnects during its body causes ECONNRESET too, but with a status.
  return statusCode === undefined && isDatabaseAway(error) ? databaseRetryAfter : null;
}

/** Logs what is down; a queue that is full under load would only fill the log as well. */
function logTemporary(request: FastifyRequest, error: unknown): void {
  if (error instanceof WorkQueueFull) {
    request.whyRefused = 'too many passwords are waiting to be checked';
    return;
  }
  const { code } = error as { code?: unknown };
  if (code === 'FST_ERR_HANDLER_TIMEOUT') request.log.error('no answer in time');
  else request.log.error({ err: error }, 'the database is down');
}

/**
 * Refuses a request with a body that is not answered in time, from when the body has arrived. Fastify's own timer
 * (`handlerTimeout`) ends then, since Node closes an incoming message once it is read.
 */
export function answerInTime(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  if (request.body !== undefined) {
    const timer = setTimeout(() => {
      if (!reply.sent) reply.send(new errorCodes.FST_ERR_HANDLER_TIMEOUT());
    }, request.routeOptions.handlerTimeout);
    reply.raw.once('close', () => clearTimeout(timer));
  }
  done();
}
