import type { FastifyRequest } from 'fastify';
import { WorkQueueFull } from '../crypto/work-queue.ts';
import { isDatabaseAway } from '../database/connect.ts';
import { second } from '../limits.ts';

const busyRetryAfter = 5 * second;

const databaseRetryAfter = 5 * second;

/** After how many milliseconds to retry an error that resolves itself; null if it does not. */
export function retryAfterOf(error: unknown): number | null {
  if (error instanceof WorkQueueFull) return busyRetryAfter;
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown };
  // A database that went silent during a statement gives no error code at all.
  if (code === 'FST_ERR_HANDLER_TIMEOUT') return databaseRetryAfter;
  // A client that disconnects during its body causes ECONNRESET too, but with a status.
  return statusCode === undefined && isDatabaseAway(error) ? databaseRetryAfter : null;
}

/** Logs what is down; a queue that is full under load would only fill the log as well. */
export function logTemporary(request: FastifyRequest, error: unknown): void {
  if (error instanceof WorkQueueFull) return;
  const { code } = error as { code?: unknown };
  if (code === 'FST_ERR_HANDLER_TIMEOUT') request.log.error('no answer in time');
  else request.log.error({ err: error }, 'the database is down');
}
