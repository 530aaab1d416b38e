import type { FastifyInstance } from 'fastify';
import { addAccount } from './account/add-account.ts';
import type { Deps } from './deps.ts';
import { addDesk } from './desk/add-desk.ts';
import { addFactors } from './factors/add-factors.ts';
import type { BuiltPages } from './http/built-pages.ts';
import { createServer, type Timeouts } from './http/create-server.ts';
import { addHub } from './hub/add-hub.ts';
import { limits } from './limits.ts';
import { addOperations } from './operations/add-operations.ts';
import { addPages } from './pages/add-pages.ts';
import { recordRefusedDestination } from './sessions/destination.ts';
import { addSignIn } from './sign-in/add-sign-in.ts';
import { addSingleSignOn } from './single-sign-on/add-single-sign-on.ts';

type AppOptions = { built: BuiltPages; timeouts?: Partial<AppTimeouts> };

/** In milliseconds; `streamsLookedAtEvery`: how often the sessions of open streams to the hub are read. */
export type AppTimeouts = Timeouts & { streamsLookedAtEvery: number };

/** The whole HTTP server: the rooms with their routes. It is not listening yet. */
export async function buildApp(deps: Deps, { built, ...options }: AppOptions): Promise<FastifyInstance> {
  const timeouts: AppTimeouts = { ...limits, ...options.timeouts };
  const app = createServer(deps, built, timeouts);
  app.decorateRequest('visitor');
  app.addHook('onResponse', recordRefusedDestination(deps));
  addSignIn(app, deps);
  await addFactors(app, deps);
  addSingleSignOn(app, deps);
  addAccount(app, deps);
  await addDesk(app, deps);
  addHub(app, deps, timeouts.streamsLookedAtEvery);
  addOperations(app, deps);
  await addPages(app, deps, built);
  return app;
}
