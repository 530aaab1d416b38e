import type { Deps } from '../deps.ts';
import type { OidcConnection } from '../storage/sso-connection.ts';
import type { ProviderAnswer, Refusal } from './identity.ts';

/** What of a visit to an OpenID provider is kept until its answer comes. */
export type OidcKept = { nonce: string; verifier: string };

/** The address at the provider to send a visitor to (OpenID Connect Core §3.1.2.1). */
export async function startOidc(
  _deps: Deps,
  _connection: OidcConnection,
  _visit: { state: string; loginHint: string | null; language: string },
): Promise<{ ok: true; url: string; kept: OidcKept } | Refusal> {
  throw new Error('to be built');
}

/** Reads the address that the provider sent the visitor back to, in full. */
export async function readOidcAnswer(
  _deps: Deps,
  _connection: OidcConnection,
  _answer: { url: URL; state: string; kept: OidcKept },
): Promise<ProviderAnswer> {
  throw new Error('to be built');
}
