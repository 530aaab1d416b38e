import type { FastifyInstance } from 'fastify';
import type { Deps } from '../deps.ts';
import { quietLevel } from '../http/request-log.ts';
import { healthRoute, readyRoute } from './health.ts';
import { metricsRoute } from './metrics-route.ts';

/** Adds what monitoring asks. */
export function addOperations(app: FastifyInstance, deps: Deps): void {
  const quiet = (name: string) => ({ logLevel: quietLevel, config: { name } }) as const;
  const { metricsToken } = deps.config;
  app.get('/healthz', quiet('health'), healthRoute);
  app.get('/readyz', quiet('ready'), readyRoute(deps));
  if (metricsToken !== null) app.get('/metrics', quiet('metrics'), metricsRoute(deps, metricsToken));
}
