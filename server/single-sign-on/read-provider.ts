import { allowInsecureRequests, ClientError, customFetch, discovery, type ServerMetadata } from 'openid-client';
import { ProviderFailure } from './provider-failure.ts';
import { type Conversation, isProviderAddress } from './provider-fetch.ts';
import { providerWords } from './provider-words.ts';

/** A JSON Web Key Set (RFC 7517 §5); each key is looked at when it is needed. */
export type KeySet = { keys: Record<string, unknown>[] };

/** What a provider publishes says something else than the operator: no failure of the network. */
export class ProviderMismatch extends ProviderFailure {}

/**
 * Reads what a provider says of itself. Its issuer is the configured one to the letter (OpenID Connect Discovery §4.3):
 * the library compares them as URLs, and for some providers not at all.
 */
export async function readDiscovery(issuer: string, { read }: Conversation): Promise<ServerMetadata> {
  const metadata = await discovered(issuer, read);
  if (metadata.issuer !== issuer) throw wrongIssuer(issuer, metadata.issuer);
  for (const name of ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const) {
    if (!isProviderAddress(metadata[name])) throw new ProviderMismatch(`discovery: ${name} is no https address`);
  }
  for (const name of ['userinfo_endpoint', 'end_session_endpoint'] as const) {
    if (metadata[name] !== undefined && !isProviderAddress(metadata[name])) {
      throw new ProviderMismatch(`discovery: ${name} is no https address`);
    }
  }
  return metadata;
}

async function discovered(issuer: string, read: Conversation['read']): Promise<ServerMetadata> {
  if (!isProviderAddress(issuer)) throw new ProviderMismatch(`${providerWords(issuer)} is no https address`);
  try {
    const configuration = await discovery(new URL(issuer), 'discovery', undefined, undefined, {
      [customFetch]: read,
      // Only for this very machine, which the fetch above sees to.
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
  return new ProviderFailure(`${issuer}: the discovery document is not one (${messageOf(error)})`);
}

function wrongIssuer(issuer: string, said: string): ProviderMismatch {
  return new ProviderMismatch(`${providerWords(issuer)} says in its discovery that it is ${providerWords(said)}`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? providerWords(error.message) : 'unknown';
}

/** Reads the keys of a provider. */
export async function readKeys(address: string, { read }: Conversation): Promise<KeySet> {
  const answer = await read(address, { headers: { accept: 'application/json, application/jwk-set+json' } });
  const text = await answer.text();
  const keySet = parsed(text);
  if (!isKeySet(keySet)) throw new ProviderFailure(`${address} does not answer with a set of keys`);
  return keySet;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isKeySet(value: unknown): value is KeySet {
  if (typeof value !== 'object' || value === null || !('keys' in value)) return false;
  return Array.isArray(value.keys) && value.keys.every((key) => typeof key === 'object' && key !== null);
}
