import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { problemStatuses } from '#contract/page.ts';
import { referenceOfRequest } from '../audit/reference.ts';
import { WorkQueueFull } from '../crypto/work-queue.ts';
import type { Deps } from '../deps.ts';
import { busyRecorder } from './busy-recorder.ts';
import { UnreadableForm } from './form-body.ts';
import { methodNotAllowed } from './method-not-allowed.ts';
import { refuse, sendProblem } from './refuse.ts';
import { wantsPage } from './request-url.ts';
import { logTemporary, retryAfterOf } from './temporary.ts';

/** The only place that decides what a visitor may see of an error. */
export function unexpectedError(deps: Deps) {
  const noRoute = methodNotAllowed(deps);
  const recordBusy = busyRecorder(deps);

  return async function handleError(
    error: FastifyError,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    const retryAfter = retryAfterOf(error);
    if (retryAfter !== null) {
      logTemporary(request, error);
      const reference = error instanceof WorkQueueFull ? await recordBusy(request) : referenceOfRequest(request.id);
      const { formAgain } = request.routeOptions.config;
      if (formAgain && wantsPage(request)) return await formAgain(request, reply, { retryAfter, reference });
      return await refuse(deps, request, reply, 503, { retryAfter, reference });
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
