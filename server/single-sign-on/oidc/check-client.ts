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
import { clientAuthentication, oidcClient, wayOfSecret } from './client.ts';
import { oidcRefusal } from './refusal.ts';
import type { Trial } from './trial.ts';

const name = 'token request';

type Verdict = { kind: 'accepted' | 'refused' | 'unknown' | 'faulty'; words: string };

/** Whether the provider accepts our client authentication, and if not, what is wrong. */
export async function checkClient(
  trial: Trial,
  authentication: ClientAuth,
  isClientKnown: boolean,
): Promise<CheckStep> {
  const { deps, connection, metadata } = trial;
  const { settings } = connection;
  const { kind, words } = await verdictOn(trial, authentication);
  const isKey = settings.clientAuthentication === 'privateKey';
  const way = isKey ? 'key' : wayOfSecret(settings, metadata);
  if (kind === 'accepted') return checkStep(name, true, `${words}, by ${methods[way]}`);
  if (kind !== 'refused') return checkStep(name, kind === 'unknown', words);
  if (way === 'key') {
    const keys = publicAddress(deps.config, 'oidcKeys');
    return checkStep(name, false, `the provider must know the keys at ${keys}: ${words}`);
  }
  const other = way === 'basic' ? 'post' : 'basic';
  if (await isAcceptedBy(trial, other)) {
    const option = `vestibule connection set ${connection.key} --client-auth ${other}`;
    return checkStep(name, false, `the secret is right, but the provider expects it by ${methods[other]}: ${option}`);
  }
  return checkStep(name, false, `${isClientKnown ? '' : '--client-id or '}--client-secret-stdin: ${words}`);
}

/** Sends the token endpoint an invented code: an accepted client is told that the code is wrong (RFC 6749 §5.2). */
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
    return { kind: 'faulty', words: 'the provider accepted an invented code' };
  } catch (error) {
    const { words } = oidcRefusal(error);
    const code = error instanceof ResponseBodyError ? error.error : null;
    if (code === 'invalid_grant') return { kind: 'accepted', words: 'the provider accepts our client authentication' };
    const isRefused = code === 'invalid_client' || error instanceof WWWAuthenticateChallengeError;
    if (isRefused) return { kind: 'refused', words };
    return { kind: code === 'invalid_request' ? 'unknown' : 'faulty', words: `could not be determined: ${words}` };
  }
}

const methods = { basic: 'client_secret_basic', post: 'client_secret_post', key: 'private_key_jwt' } as const;

/** A provider may expect another method from us than it announces, or than the first it announces. */
async function isAcceptedBy(trial: Trial, way: 'basic' | 'post'): Promise<boolean> {
  const { deps, connection, metadata } = trial;
  const settings = { ...connection.settings, clientAuthentication: way };
  const proof = await clientAuthentication(deps, { ...connection, settings }, metadata);
  return proof.kind === 'ok' && (await verdictOn(trial, proof.authentication)).kind === 'accepted';
}
