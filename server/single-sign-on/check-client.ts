import {
  authorizationCodeGrant,
  type ClientAuth,
  ResponseBodyError,
  randomNonce,
  randomPKCECodeVerifier,
  WWWAuthenticateChallengeError,
} from 'openid-client';
import { publicAddress } from './addresses.ts';
import { type CheckStep, checkStep, type Trial } from './check-step.ts';
import { oidcClient } from './oidc-client.ts';
import { oidcRefusal } from './oidc-refusal.ts';

const name = 'token request';

/** Shows the token endpoint a code that never was: who is accepted hears that the code is wrong (RFC 6749 §5.2). */
export async function checkClient(
  { deps, connection, metadata, conversation }: Trial,
  authentication: ClientAuth,
  isClientKnown: boolean,
): Promise<CheckStep> {
  const client = oidcClient(deps, connection, metadata, { conversation, authentication });
  const callback = new URL(publicAddress(deps.config, 'oidcCallback'));
  const { issuer, clientAuthentication } = connection.settings;
  callback.search = new URLSearchParams({ code: 'made-up-for-a-trial', state: 'trial', iss: issuer }).toString();
  try {
    await authorizationCodeGrant(client, callback, {
      expectedState: 'trial',
      expectedNonce: randomNonce(),
      pkceCodeVerifier: randomPKCECodeVerifier(),
    });
    return checkStep(name, false, 'the provider takes a code that was made up');
  } catch (error) {
    const { words } = oidcRefusal(error);
    const code = error instanceof ResponseBodyError ? error.error : null;
    if (code === 'invalid_grant') return checkStep(name, true, 'the provider accepts who we say we are');
    const isRefused = code === 'invalid_client' || error instanceof WWWAuthenticateChallengeError;
    if (!isRefused) return checkStep(name, code === 'invalid_request', `cannot be told: ${words}`);
    if (clientAuthentication === 'privateKey') {
      return checkStep(
        name,
        false,
        `the provider must know the keys at ${publicAddress(deps.config, 'oidcKeys')}: ${words}`,
      );
    }
    return checkStep(name, false, `${isClientKnown ? '' : '--client-id or '}--client-secret-stdin: ${words}`);
  }
}
