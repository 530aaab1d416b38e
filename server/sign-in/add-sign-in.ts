import type { FastifyInstance } from 'fastify';
import type { Deps } from '../deps.ts';
import { passkeyOptionsRoute } from '../factors/passkey-ceremony.ts';
import { callRoutes } from '../http/call-routes.ts';
import { forgottenFormAgain, forgottenRoute, forgottenSchema } from './forgotten.ts';
import { linkFormAgain, linkRoutes } from './link-routes.ts';
import { performLoginRoute, performLoginSchema, signInFormAgain } from './perform-login-route.ts';
import { passkeySignInRoute, passkeySignInSchema } from './sign-in-by-passkey.ts';

/** Adds sign-in by password and passkey, and the links by which people choose how they sign in. */
export function addSignIn(app: FastifyInstance, deps: Deps): void {
  const add = callRoutes(app, deps);
  // The form says what is wrong with an entry.
  const attachValidation = true;
  const { change, beginPasskey, addPasskey } = linkRoutes(deps);
  const login = { schema: performLoginSchema, attachValidation, formAgain: signInFormAgain(deps) };
  add('performLogin', 'everybody', performLoginRoute(deps), login);
  const forgotten = { schema: forgottenSchema, attachValidation, formAgain: forgottenFormAgain(deps) };
  add('passwordForgotten', 'everybody', forgottenRoute(deps), forgotten);
  add('passwordChange', 'link', change.handler, { schema: change.schema, formAgain: linkFormAgain(deps) });
  add('passkeyInvitationOptions', 'link', beginPasskey.handler, { schema: beginPasskey.schema });
  const invitation = { schema: addPasskey.schema, formAgain: linkFormAgain(deps, 'passkey') };
  add('passkeyInvitation', 'link', addPasskey.handler, invitation);
  add('passkeyOptions', 'everybody', passkeyOptionsRoute(deps, 'sign-in'));
  add('passkeySignIn', 'everybody', passkeySignInRoute(deps), {
    schema: passkeySignInSchema,
    formAgain: signInFormAgain(deps),
  });
}
