import type { FastifyInstance } from 'fastify';
import { accountPath, accountSections } from '#contract/account.ts';
import type { Deps } from '../deps.ts';
import { callRoutes } from '../http/call-routes.ts';
import { accountFormRoute } from './account-form-route.ts';
import { accountRoute } from './account-route.ts';
import { logoutAgain, logoutConfirmedRoute, logoutRoute } from './logout-route.ts';
import { overview } from './overview.ts';
import { enrolOptionsRoute, passkeys } from './passkeys.ts';
import { password } from './password.ts';
import { app as appSection, devices, recoveryCodes } from './second-factor.ts';
import type { Section } from './section.ts';
import { sessions, signIns } from './sessions.ts';

const sections: readonly Section[] = [
  overview,
  password,
  passkeys,
  appSection,
  recoveryCodes,
  devices,
  sessions,
  signIns,
];

/** Adds sign-out, and the account page: a page and its forms for each section. */
export function addAccount(app: FastifyInstance, deps: Deps): void {
  const { basePath } = deps.config;
  const add = callRoutes(app, deps);
  add('logout', 'everybody', logoutRoute(deps), { exposeHeadRoute: false });
  add('logoutConfirmed', 'everybody', logoutConfirmedRoute(deps), { formAgain: logoutAgain(deps) });
  add('passkeyEnrolOptions', 'full session', enrolOptionsRoute(deps));
  for (const section of sections) {
    const url = basePath + accountPath + accountSections[section.name];
    const config = { name: 'account' };
    app.get(url, { config }, accountRoute(deps, section));
    app.post(url, { config }, accountFormRoute(deps, section));
  }
}
