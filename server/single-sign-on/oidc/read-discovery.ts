import { allowInsecureRequests, ClientError, customFetch, discovery, type ServerMetadata } from 'openid-client';
import { isProviderAddress } from '../../config/public-url.ts';
import {
  ConnectionBroken,
  type Conversation,
  openConversation,
  ProviderFailure,
  refusedByHost,
} from '../../http/provider-fetch.ts';
import { providerWords } from '../provider-answer.ts';

/**
 * Reads a provider's metadata. Its issuer must equal the configured one exactly (OpenID Connect Discovery §4.3): the
 * library compares them as URLs, and for some providers not at all.
 */
export async function readDiscovery(
  issuer: string,
  networks: readonly string[],
  { read }: Pick<Conversation, 'read'> = openConversation(networks),
): Promise<ServerMetadata> {
  const metadata = await discovered(issuer, read);
  if (metadata.issuer !== issuer) throw wrongIssuer(issuer, metadata.issuer);
  const wrong = wrongEndpoint(metadata);
  if (wrong) throw new ConnectionBroken(`discovery: ${wrong} is not an https address`);
  for (const name of [...neededEndpoints, ...otherEndpoints]) {
    // Names are looked up, and refused, when they are used.
    const refused = metadata[name] === undefined ? null : refusedByHost(new URL(String(metadata[name])), networks);
    if (refused) throw new ConnectionBroken(`discovery: ${name}: ${refused.message}`);
  }
  return metadata;
}

const neededEndpoints = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'];
const otherEndpoints = ['userinfo_endpoint', 'end_session_endpoint'];

/**
 * The first endpoint that we neither request nor send anyone to. Only a provider on this machine may have http
 * endpoints: a remote provider must not reach local services through us.
 */
function wrongEndpoint(metadata: ServerMetadata): string | undefined {
  const isHere = metadata.issuer.startsWith('http:');
  const isRight = (address: unknown) => isProviderAddress(address) && (isHere || address.startsWith('https:'));
  const others = otherEndpoints.filter((name) => metadata[name] !== undefined);
  return [...neededEndpoints, ...others].find((name) => !isRight(metadata[name]));
}

async function discovered(issuer: string, read: Conversation['read']): Promise<ServerMetadata> {
  if (!isProviderAddress(issuer)) throw new ConnectionBroken(`${providerWords(issuer)} is not an https address`);
  try {
    const configuration = await discovery(new URL(issuer), 'discovery', undefined, undefined, {
      [customFetch]: read,
      // Only for this machine, which the fetch above ensures.
      execute: [allowInsecureRequests],
    });
    return configuration.serverMetadata();
  } catch (error) {
    throw failureOfDiscovery(error, issuer);
  }
}

function failureOfDiscovery(error: unknown, issuer: string): ProviderFailure {
  const cause = error instanceof Error ? error.cause : null;
  if (cause instanceof ProviderFailure) return cause;
  if (error instanceof ClientError && error.code === 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED') {
    return wrongIssuer(issuer, (cause as { body: { issuer: string } }).body.issuer);
  }
  const words = error instanceof Error ? providerWords(error.message) : 'unknown';
  return new ProviderFailure(`${issuer}: the discovery document is invalid (${words})`);
}

function wrongIssuer(issuer: string, said: string): ConnectionBroken {
  return new ConnectionBroken(
    `the discovery document of ${providerWords(issuer)} names another issuer, ${providerWords(said)}`,
  );
}
