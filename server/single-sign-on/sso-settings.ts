/** Settings for both protocols; absent in older connections. */
type CommonSettings = {
  /** How long ago the person may have authenticated at the provider, in seconds; null for no limit. */
  maxAuthenticationAge?: number | null;
};

/**
 * How we authenticate at the token endpoint: by a shared secret, as the provider announces, in the header (`basic`) or
 * in the body (`post`); or by a signature with the portal's own key.
 */
export type ClientAuthentication = 'secret' | 'basic' | 'post' | 'privateKey';

/** The settings of an OpenID Connect connection. */
export type OidcSettings = CommonSettings & {
  /** As written by the provider in discovery and in every token. */
  issuer: string;
  clientId: string;
  clientAuthentication: ClientAuthentication;
  /** Besides `openid`. */
  scopes: string[];
};

/** Where single logout requests go, and answers if elsewhere, and by which binding (SAML metadata §2.2.2). */
export type SamlLogoutService = { url: string; responseUrl: string; binding: 'redirect' | 'post' };

/** The settings of a SAML connection, all from the provider's metadata. */
export type SamlSettings = CommonSettings & {
  /** The provider's entity id. */
  entityId: string;
  /** Where requests are sent. */
  signOnUrl: string;
  /** The binding for providers that accept no redirects: a form (SAML bindings §3.5). */
  signOnBinding?: 'post' | undefined;
  /** The provider's single logout; absent if it has none. */
  logout?: SamlLogoutService | undefined;
  /** PEM; an answer signed by any of them is valid. */
  certificates: string[];
  /** Where the metadata came from, to be refreshed; null for a file. */
  metadataUrl: string | null;
  /** Whether the provider may begin without a request of ours. */
  mayBegin: boolean;
  /** Whether assertions must come encrypted. */
  wantsEncryption: boolean;
};

export type ProtocolSettings =
  | { protocol: 'oidc'; settings: OidcSettings }
  | { protocol: 'saml'; settings: SamlSettings };

/** Which claim or attribute holds what; by default the protocol's usual names. */
export type Attributes = { email?: string; username?: string; language?: string };
