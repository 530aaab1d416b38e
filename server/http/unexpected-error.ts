import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { problemStatuses } from '#contract/page.ts';
import type { Deps } from '../deps.ts';
import { limits } from '../limits.ts';
import { WorkQueueFull } from '../secrets/work-queue.ts';
import { isDatabaseAway } from '../storage/connect.ts';
import { UnreadableForm } from './form-body.ts';
import { methodNotAllowed } from './method-not-allowed.ts';
import { refuse, sendProblem } from './refuse.ts';

/** The one place that decides what a visitor may see of an error. */
export function unexpectedError(deps: Deps) {
  const noRoute = methodNotAllowed(deps);

  return async function handleError(
    error: FastifyError,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    if (error instanceof WorkQueueFull)
      return await refuse(deps, request, reply, 503, { retryAfter: limits.busyRetryAfter });
    if (error.code === 'FST_ERR_HANDLER_TIMEOUT') {
      request.log.error('no answer in time');
      return await refuse(deps, request, reply, 503, { retryAfter: limits.databaseRetryAfter });
    }
    // A client that goes away while its body is read says ECONNRESET too, with a status of its own.
    if (error.statusCode === undefined && isDatabaseAway(error)) {
      request.log.error({ err: error }, 'the database is away');
      return await refuse(deps, request, reply, 503, { retryAfter: limits.databaseRetryAfter });
    }
    if (error instanceof UnreadableForm) {
      return await refuse(deps, request, reply, 400, {
        detail: error.message,
        ...(error.field && { field: error.field }),
      });
    }
    if (error.validation) return await refuse(deps, request, reply, 400, validationDetail(error));
    if (error.code === 'FST_STATIC_FORBIDDEN_PATH') return await noRoute(request, reply);
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
