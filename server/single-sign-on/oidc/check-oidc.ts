import type { ServerMetadata } from 'openid-client';
import type { KeySet } from '../../deps/provider-memory.ts';
import type { OidcConnection } from '../../storage/sso-connection.ts';
import type { ClientAuthentication } from '../../storage/sso-settings.ts';
import { redirectUri } from '../addresses.ts';
import { type CheckStep, checkStep, wordsOf } from '../check-step.ts';
import { checkAuthorization } from './check-authorization.ts';
import { checkClient } from './check-client.ts';
import { type ClientDeps, clientAuthentication } from './client.ts';
import { acceptedAlgorithms, idTokenAlgorithms } from './id-token-algorithms.ts';
import { createProviderMemory } from './provider-memory.ts';
import type { Trial } from './trial.ts';

/**
 * Tests as much of a connection as possible without a person. What cannot be determined is not a failure. Throws if the
 * portal's own keys cannot be opened.
 */
export async function checkOidc(deps: Omit<ClientDeps, 'providers'>, connection: OidcConnection): Promise<CheckStep[]> {
  // The process's own memory would hide current problems.
  const providers = createProviderMemory({ now: deps.now, log: { warn() {} } });
  const conversation = providers.open(connection.providerNetworks);
  const { issuer } = connection.settings;
  let metadata: ServerMetadata;
  try {
    metadata = await providers.discovery(issuer, conversation);
  } catch (error) {
    return [checkStep('discovery', false, `--issuer: ${wordsOf(error)}`)];
  }
  const trial: Trial = {
    deps: { ...deps, providers },
    connection,
    redirectUri: redirectUri(deps.config, connection),
    metadata,
    conversation,
  };
  return [
    checkStep('discovery', true, `${issuer} answers, and its endpoints are https`),
    responseType(trial),
    pkce(trial),
    ...algorithms(trial),
    await keys(trial),
    ...(await client(trial)),
  ];
}

function responseType({ metadata }: Trial): CheckStep {
  const offered = metadata.response_types_supported ?? ['code'];
  if (offered.includes('code')) return checkStep('response type', true, 'the provider offers the authorization code');
  return checkStep('response type', false, 'the provider does not offer response_type code');
}

/** Some providers verify it without announcing it. */
function pkce({ metadata }: Trial): CheckStep {
  const isAnnounced = metadata.code_challenge_methods_supported?.includes('S256') === true;
  return checkStep('PKCE', true, isAnnounced ? 'the provider announces S256' : 'not announced; it is sent anyway');
}

/** Empty if they are as usual. */
function algorithms({ metadata }: Trial): CheckStep[] {
  const announced = metadata.id_token_signing_alg_values_supported;
  if (!announced || announced.some((one) => idTokenAlgorithms.some((ours) => ours === one))) return [];
  const words = `the provider announces only ${announced.join(', ')}; ${acceptedAlgorithms}: choose one of these there`;
  return [checkStep('signature', false, words)];
}

async function keys({ deps, metadata, conversation }: Trial): Promise<CheckStep> {
  try {
    const keySet = await deps.providers.keys(metadata.jwks_uri ?? '', () => true, conversation);
    const usable = keySet.keys.filter(isUsable).length;
    if (usable > 0) return checkStep('keys', true, `${usable} of ${keySet.keys.length} can check signatures`);
    return checkStep(
      'keys',
      false,
      `none of the ${keySet.keys.length} keys at ${metadata.jwks_uri} can check signatures`,
    );
  } catch (error) {
    return checkStep('keys', false, wordsOf(error));
  }
}

function isUsable({ kty, use, alg }: KeySet['keys'][number]): boolean {
  const isAsymmetric = kty === 'RSA' || kty === 'EC' || kty === 'OKP';
  return isAsymmetric && use !== 'enc' && (alg === undefined || idTokenAlgorithms.some((one) => one === alg));
}

/** What the provider offers, whether it knows us, and whether it accepts our proof. */
async function client(trial: Trial): Promise<CheckStep[]> {
  const { deps, connection, metadata } = trial;
  const proof = await clientAuthentication(deps, connection, metadata);
  if (proof.kind === 'refused')
    return [checkStep('client authentication', false, `--client-secret-stdin: ${proof.words}`)];
  const { isClientKnown, ...authorization } = await checkAuthorization(trial);
  return [offered(trial), authorization, await checkClient(trial, proof.authentication, isClientKnown)];
}

const methodsOf: Record<ClientAuthentication, string[]> = {
  secret: ['client_secret_basic', 'client_secret_post'],
  basic: ['client_secret_basic'],
  post: ['client_secret_post'],
  privateKey: ['private_key_jwt'],
};

function offered({ connection, metadata }: Trial): CheckStep {
  const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const ours = methodsOf[connection.settings.clientAuthentication];
  if (ours.some((method) => methods.includes(method))) {
    return checkStep(
      'client authentication',
      true,
      `the provider offers ${ours.filter((method) => methods.includes(method))}`,
    );
  }
  return checkStep(
    'client authentication',
    false,
    `the provider offers ${methods.join(', ')}, but not ${ours.join(' or ')}`,
  );
}
