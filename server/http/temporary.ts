import type { FastifyRequest } from 'fastify';
import { limits } from '../limits.ts';
import { WorkQueueFull } from '../secrets/work-queue.ts';
import { isDatabaseAway } from '../storage/connect.ts';

/** Whether an error passes by itself, and after how many milliseconds to try again; null when it does not. */
export function retryAfterOf(error: unknown): number | null {
  if (error instanceof WorkQueueFull) return limits.busyRetryAfter;
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown };
  // A database that went silent in the middle of a statement says nothing at all.
  if (code === 'FST_ERR_HANDLER_TIMEOUT') return limits.databaseRetryAfter;
  // A client that goes away while its body is read says ECONNRESET too, with a status of its own.
  return statusCode === undefined && isDatabaseAway(error) ? limits.databaseRetryAfter : null;
}

/** Says in the log what is away; a queue that is full under load would only fill the log as well. */
export function logTemporary(request: FastifyRequest, error: unknown): void {
  if (error instanceof WorkQueueFull) return;
  const { code } = error as { code?: unknown };
  if (code === 'FST_ERR_HANDLER_TIMEOUT') request.log.error('no answer in time');
  else request.log.error({ err: error }, 'the database is away');
}
