import type { JWTVerifyGetKey } from 'jose';
import type { Configuration } from 'openid-client';

/** An OpenID provider as it was read for a connection: the library's client, and the keys of its logout tokens. */
export type OidcProvider = { client: Configuration; keys: JWTVerifyGetKey & { jwks: () => JwkSet | undefined } };

type JwkSet = { keys: Record<string, unknown>[] };

/** The providers that a process has read within the last minutes, by the id of the connection. */
export type ProviderMemory = Map<string, { version: number; until: Date; provider: Promise<OidcProvider> }>;
