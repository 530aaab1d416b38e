import type { JWK } from 'jose';
import type { ClientAuth, ServerMetadata } from 'openid-client';
import { type CheckStep, checkStep, wordsOf } from '../check-step.ts';
import type { OidcConnection } from '../sso-connection.ts';
import type { ClientAuthentication } from '../sso-settings.ts';
import { type CheckDeps, checkClient, type Trial } from './check-client.ts';
import { clientAuthentication } from './client-authentication.ts';
import { acceptedAlgorithms, idTokenAlgorithms, providerKeys } from './provider.ts';
import { readDiscovery } from './read-discovery.ts';

/**
 * Tests as much of a connection as possible without a person. What cannot be determined is not a failure. Throws if the
 * portal's own keys cannot be opened.
 */
export async function checkOidc(deps: CheckDeps, connection: OidcConnection): Promise<CheckStep[]> {
  const { issuer } = connection.settings;
  let metadata: ServerMetadata;
  try {
    metadata = await readDiscovery(issuer, connection.providerNetworks);
  } catch (error) {
    return [checkStep('discovery', false, `--issuer: ${wordsOf(error)}`)];
  }
  const trial = { deps, connection, metadata };
  return [
    checkStep('discovery', true, `${issuer} answers, and its endpoints are https`),
    responseType(metadata),
    pkce(metadata),
    ...algorithms(metadata),
    await keys(trial),
    ...(await client(trial)),
  ];
}

function responseType({ response_types_supported: offered = ['code'] }: ServerMetadata): CheckStep {
  if (offered.includes('code')) return checkStep('response type', true, 'the provider offers the authorization code');
  return checkStep('response type', false, 'the provider does not offer response_type code');
}

/** Some providers verify it without announcing it. */
function pkce(metadata: ServerMetadata): CheckStep {
  const isAnnounced = metadata.code_challenge_methods_supported?.includes('S256') === true;
  return checkStep('PKCE', true, isAnnounced ? 'the provider announces S256' : 'not announced; it is sent anyway');
}

/** Empty if they are as usual. */
function algorithms({ id_token_signing_alg_values_supported: announced }: ServerMetadata): CheckStep[] {
  if (!announced || announced.some((one) => idTokenAlgorithms.some((ours) => ours === one))) return [];
  const words = `the provider announces only ${announced.join(', ')}; ${acceptedAlgorithms}: choose one of these there`;
  return [checkStep('signature', false, words)];
}

async function keys({ connection, metadata }: Trial): Promise<CheckStep> {
  const published = providerKeys(connection, metadata);
  try {
    await published.reload();
  } catch (error) {
    return checkStep('keys', false, wordsOf(error));
  }
  const all = published.jwks()?.keys ?? [];
  const usable = all.filter(isUsable).length;
  if (usable > 0) return checkStep('keys', true, `${usable} of ${all.length} can check signatures`);
  return checkStep('keys', false, `none of the ${all.length} keys at ${metadata.jwks_uri} can check signatures`);
}

function isUsable({ kty, use, alg }: JWK): boolean {
  const isAsymmetric = kty === 'RSA' || kty === 'EC' || kty === 'OKP';
  return isAsymmetric && use !== 'enc' && (alg === undefined || idTokenAlgorithms.some((one) => one === alg));
}

/** What the provider offers, whether it knows us, and whether it accepts our proof. */
async function client(trial: Trial): Promise<CheckStep[]> {
  const { deps, connection, metadata } = trial;
  let authentication: ClientAuth;
  try {
    authentication = await clientAuthentication(deps, connection, metadata);
  } catch (error) {
    return [checkStep('client authentication', false, `--client-secret-stdin: ${wordsOf(error)}`)];
  }
  return [offered(trial), ...(await checkClient(trial, authentication))];
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
  const both = ours.filter((method) => methods.includes(method));
  const words = both.length > 0 ? both.join(',') : `${methods.join(', ')}, but not ${ours.join(' or ')}`;
  return checkStep('client authentication', both.length > 0, `the provider offers ${words}`);
}
