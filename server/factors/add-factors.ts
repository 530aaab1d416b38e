import type { FastifyInstance } from 'fastify';
import { PasskeyForm } from '#contract/payloads.ts';
import type { Deps } from '../deps.ts';
import { callRoutes } from '../http/call-routes.ts';
import { readCodesIn } from '../http/request-body.ts';
import { sendRoute } from './email-code.ts';
import { passkeyOptionsRoute } from './passkey-ceremony.ts';
import { recoveryCodesRoute } from './recovery-codes.ts';
import { registrationRoute } from './registration.ts';
import { twoFactorFormAgain, verifyRoutes, verifySchema } from './verify-routes.ts';

/** Adds the second factors: codes of an app or by email, recovery codes, passkeys. */
export async function addFactors(app: FastifyInstance, deps: Deps): Promise<void> {
  const add = callRoutes(app, deps);
  const formAgain = twoFactorFormAgain(deps);
  const { verifyCode, verifyPasskey } = verifyRoutes(deps);
  add('passkeyFactorOptions', 'everybody', passkeyOptionsRoute(deps, 'second-factor'));
  add('passkeyFactor', 'half session', verifyPasskey, { schema: { body: PasskeyForm }, formAgain });
  add('twoFactorRegistration', 'half session', registrationRoute(deps));
  add('twoFactorSend', 'half session', sendRoute(deps), { formAgain });
  add('twoFactorRecoveryCodes', 'full session', recoveryCodesRoute(deps));
  await app.register(async (scope) => {
    readCodesIn(scope);
    callRoutes(scope, deps)('twoFactorVerify', 'half session', verifyCode, {
      schema: verifySchema,
      formAgain,
    });
  });
}
