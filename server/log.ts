import { type DestinationStream, type Logger, pino } from 'pino';
import { loggedError, loggedRequest } from './http/request-log.ts';

/** The log of a process: one JSON line per event, to standard output by default. `level` is pino's. */
export function createLog(level: string, writesTo?: DestinationStream): Logger {
  const options = {
    level,
    serializers: { req: loggedRequest, err: loggedError },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
  };
  return writesTo ? pino(options, writesTo) : pino(options);
}
