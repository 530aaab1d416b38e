import type { FastifyInstance } from 'fastify';
import type { Deps } from '../deps.ts';
import { callRoutes } from '../http/call-routes.ts';
import { quietLevel } from '../http/request-log.ts';
import { addGate } from './gate.ts';
import { hubKeysRoute } from './hub-keys.ts';
import { sessionRoute } from './session-route.ts';

/** Adds what a hub asks and is told: the session check, the keys of its tokens, and the gate before it. */
export function addHub(app: FastifyInstance, deps: Deps, streamsLookedAtEvery: number): void {
  callRoutes(app, deps)('session', 'full session', sessionRoute(deps), { logLevel: quietLevel });
  app.get('/.well-known/jwks.json', { logLevel: quietLevel, config: { name: 'hubKeys' } }, hubKeysRoute(deps));
  if (deps.config.hub) addGate(app, deps, deps.config.hub, streamsLookedAtEvery);
}
