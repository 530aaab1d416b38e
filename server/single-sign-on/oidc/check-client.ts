import {
  authorizationCodeGrant,
  type ClientAuth,
  ResponseBodyError,
  randomNonce,
  randomPKCECodeVerifier,
  WWWAuthenticateChallengeError,
} from 'openid-client';
import { publicAddress } from '../addresses.ts';
import { type CheckStep, checkStep } from '../check-step.ts';
import { clientAuthentication, oidcClient } from './oidc-client.ts';
import { oidcRefusal } from './oidc-refusal.ts';
import type { Trial } from './trial.ts';

const name = 'token request';

type Verdict = { kind: 'accepted' | 'refused' | 'unknown' | 'faulty'; words: string };

/** Whether the provider accepts who we say we are, and what of it is wrong if not. */
export async function checkClient(
  trial: Trial,
  authentication: ClientAuth,
  isClientKnown: boolean,
): Promise<CheckStep> {
  const { deps, connection } = trial;
  const { kind, words } = await verdictOn(trial, authentication);
  if (kind === 'accepted') return checkStep(name, true, words);
  if (kind !== 'refused') return checkStep(name, kind === 'unknown', words);
  if (connection.settings.clientAuthentication === 'privateKey') {
    const keys = publicAddress(deps.config, 'oidcKeys');
    return checkStep(name, false, `the provider must know the keys at ${keys}: ${words}`);
  }
  if (await isAcceptedInBody(trial)) {
    return checkStep(
      name,
      false,
      'the secret is right, but the provider must take it by client_secret_basic: set it so there',
    );
  }
  return checkStep(name, false, `${isClientKnown ? '' : '--client-id or '}--client-secret-stdin: ${words}`);
}

/** Shows the token endpoint a code that never was: who is accepted hears that the code is wrong (RFC 6749 §5.2). */
async function verdictOn(
  { deps, connection, metadata, conversation, redirectUri }: Trial,
  authentication: ClientAuth,
): Promise<Verdict> {
  const client = oidcClient(deps, connection, metadata, { conversation, authentication });
  const callback = new URL(redirectUri);
  const { issuer } = connection.settings;
  callback.search = new URLSearchParams({ code: 'made-up-for-a-trial', state: 'trial', iss: issuer }).toString();
  try {
    await authorizationCodeGrant(client, callback, {
      expectedState: 'trial',
      expectedNonce: randomNonce(),
      pkceCodeVerifier: randomPKCECodeVerifier(),
    });
    return { kind: 'faulty', words: 'the provider takes a code that was made up' };
  } catch (error) {
    const { words } = oidcRefusal(error);
    const code = error instanceof ResponseBodyError ? error.error : null;
    if (code === 'invalid_grant') return { kind: 'accepted', words: 'the provider accepts who we say we are' };
    const isRefused = code === 'invalid_client' || error instanceof WWWAuthenticateChallengeError;
    if (isRefused) return { kind: 'refused', words };
    return { kind: code === 'invalid_request' ? 'unknown' : 'faulty', words: `cannot be told: ${words}` };
  }
}

/** A provider offers both ways to all its clients, and may have written down the other one for us. */
async function isAcceptedInBody(trial: Trial): Promise<boolean> {
  const { deps, connection, metadata } = trial;
  const inBody = ['client_secret_post'];
  if (!metadata.token_endpoint_auth_methods_supported?.includes('client_secret_post')) return false;
  const proof = await clientAuthentication(deps, connection, {
    ...metadata,
    token_endpoint_auth_methods_supported: inBody,
  });
  return proof.ok && (await verdictOn(trial, proof.authentication)).kind === 'accepted';
}
