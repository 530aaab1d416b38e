import type { FastifyInstance } from 'fastify';
import { ChangeForm } from '#contract/payloads.ts';
import type { Deps } from '../deps.ts';
import { passkeyOptionsRoute } from '../factors/passkey-ceremony.ts';
import { callRoutes } from '../http/call-routes.ts';
import { changePasswordRoute, linkFormAgain } from './change-password-route.ts';
import { forgottenFormAgain, forgottenRoute, forgottenSchema } from './forgotten.ts';
import { performLoginRoute, performLoginSchema, signInFormAgain } from './perform-login-route.ts';
import { passkeySignInRoute, passkeySignInSchema } from './sign-in-by-passkey.ts';

/** Adds sign-in by password and passkey, and the links by which people choose a password. */
export function addSignIn(app: FastifyInstance, deps: Deps): void {
  const add = callRoutes(app, deps);
  // The form says what is wrong with an entry.
  const attachValidation = true;
  const login = { schema: performLoginSchema, attachValidation, formAgain: signInFormAgain(deps) };
  add('performLogin', 'everybody', performLoginRoute(deps), login);
  const forgotten = { schema: forgottenSchema, attachValidation, formAgain: forgottenFormAgain(deps) };
  add('passwordForgotten', 'everybody', forgottenRoute(deps), forgotten);
  const change = { schema: { body: ChangeForm }, formAgain: linkFormAgain(deps) };
  add('passwordChange', 'link', changePasswordRoute(deps), change);
  add('passkeyOptions', 'everybody', passkeyOptionsRoute(deps, 'sign-in'));
  add('passkeySignIn', 'everybody', passkeySignInRoute(deps), {
    schema: passkeySignInSchema,
    formAgain: signInFormAgain(deps),
  });
}
