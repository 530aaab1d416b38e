import type { CustomFetchOptions, ServerMetadata } from 'openid-client';

export type ProviderRequest = Partial<Pick<CustomFetchOptions, 'method' | 'headers' | 'body'>>;

/** All requests to a provider for one page. Each function throws a ProviderFailure. */
export type Conversation = {
  /** Networks listed for the connection besides the public ones. */
  networks: readonly string[];
  /** Aborts when the time for all requests is over. */
  signal: AbortSignal;
  /** An answer with any status; redirects are not followed. */
  look: (url: string, request?: ProviderRequest) => Promise<Response>;
  /** An answer for programs: no redirect, server error or web page. */
  ask: (url: string, request?: ProviderRequest) => Promise<Response>;
  /** Like `ask`, with status 200. */
  read: (url: string, request?: ProviderRequest) => Promise<Response>;
};

/** A JSON Web Key Set (RFC 7517 §5); keys are read only when needed. */
export type KeySet = { keys: Record<string, unknown>[] };

/** A process's cache of what OpenID providers publish. Each function throws a ProviderFailure. */
export type ProviderMemory = {
  /** Begins the requests to a provider for one page. */
  open: (networks: readonly string[]) => Conversation;
  /** The same for optional requests. */
  openBriefly: (networks: readonly string[]) => Conversation;
  /** The provider's metadata (OpenID Connect Discovery §3). */
  discovery: (issuer: string, conversation: Conversation) => Promise<ServerMetadata>;
  /** The keys at an address; refreshed if they don't fit, but not every time when that fails. */
  keys: (
    address: string,
    willDo: (keySet: KeySet) => boolean | Promise<boolean>,
    conversation: Conversation,
  ) => Promise<KeySet>;
};
