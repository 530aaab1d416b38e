import type { FastifyRequest, onResponseHookHandler } from 'fastify';
import { type DestinationStream, type Logger, pino } from 'pino';
import { sourceStack } from '../config/source-stack.ts';
import { recordable, splitUrl } from './request-url.ts';

/** The log level of routes that are requested so often that their lines would bury the others. */
export const quietLevel = 'warn';

/** As long as a token: a mangled link may have its query in its path. */
const tokenLike = /[\w-]{43,}/g;

/** What a log line contains of a request: never its query, headers or body, which carry secrets. */
function loggedRequest(request: FastifyRequest) {
  return { method: request.method, path: recordable(splitUrl(request.url).path.replace(tokenLike, '(hidden)')) };
}

/**
 * What a log line contains of an error. Other properties are omitted: PostgreSQL quotes whole rows in its details,
 * including a statement's parameters.
 */
function loggedError(error: Error & { code?: unknown }) {
  const { name, message, code } = error;
  return { type: name, message, ...(code !== undefined && { code: String(code) }), stack: sourceStack(error) };
}

/** One line per answered request. */
export const logRequest: onResponseHookHandler = (request, reply, done) => {
  done();
  if (request.log.level === quietLevel) return;
  // For whom the page gave only a reference to this line.
  const { address, whyRefused: why } = request;
  const ms = Math.round(reply.elapsedTime * 10) / 10;
  request.log.info(
    { req: request, address, status: reply.statusCode, ...(why !== undefined && { why }), ms },
    'answered',
  );
};

/** The log of a process: one JSON line per event, to standard output by default. `level` is pino's. */
export function createLog(level: string, writesTo?: DestinationStream): Logger {
  const options = {
    level,
    serializers: { req: loggedRequest, err: loggedError },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
  };
  return writesTo ? pino(options, writesTo) : pino(options);
}
