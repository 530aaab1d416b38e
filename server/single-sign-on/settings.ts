/** What connections of both protocols may have; absent in those of before. */
type CommonSettings = {
  /** How long ago the person may have proven to the provider who he is, in seconds; null for as long as it likes. */
  maxAuthenticationAge?: number | null;
};

/**
 * How we prove who we are at the token endpoint: by a shared secret, in the way that the provider announces, in the header
 * (`basic`) or in the body (`post`); or by a signature with the portal's own key.
 */
export type ClientAuthentication = 'secret' | 'basic' | 'post' | 'privateKey';

/** What an OpenID Connect connection needs to know of its provider. */
export type OidcSettings = CommonSettings & {
  /** As the provider writes it in discovery and in every token. */
  issuer: string;
  clientId: string;
  clientAuthentication: ClientAuthentication;
  /** Besides `openid`. */
  scopes: string[];
};

/** Where requests and, perhaps elsewhere, answers of single logout go, and how they travel (SAML metadata §2.2.2). */
export type SamlLogoutService = { url: string; responseUrl: string; binding: 'redirect' | 'post' };

/** What a SAML connection needs to know of its provider; all of it is in the provider's metadata. */
export type SamlSettings = CommonSettings & {
  /** The provider's entity id. */
  entityId: string;
  /** Where requests are sent. */
  signOnUrl: string;
  /** How they travel where the provider takes none by redirect: by a form (SAML bindings §3.5). */
  signOnBinding?: 'post' | undefined;
  /** Where the provider takes part in single logout; absent where it does not. */
  logout?: SamlLogoutService | undefined;
  /** PEM; an answer signed by any of them counts. */
  certificates: string[];
  /** Where the metadata came from, to be read again; null for a file. */
  metadataUrl: string | null;
  /** Whether the provider may begin by itself, without a request of ours. */
  mayBegin: boolean;
  /** Whether assertions must come encrypted. */
  wantsEncryption: boolean;
};

export type ProtocolSettings =
  | { protocol: 'oidc'; settings: OidcSettings }
  | { protocol: 'saml'; settings: SamlSettings };

/** Which claim or attribute says what; absent ones have the protocol's usual name. */
export type Attributes = { email?: string; username?: string; language?: string };
