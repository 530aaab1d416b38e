/** What an OpenID Connect connection needs to know of its provider. */
export type OidcSettings = {
  /** As the provider writes it in discovery and in every token. */
  issuer: string;
  clientId: string;
  /** How we prove who we are at the token endpoint: a shared secret, or a signature by the portal's own key. */
  clientAuthentication: 'secret' | 'privateKey';
  /** Besides `openid`. */
  scopes: string[];
};

/** What a SAML connection needs to know of its provider; all of it is in the provider's metadata. */
export type SamlSettings = {
  /** The provider's entity id. */
  entityId: string;
  /** Where requests are sent. */
  signOnUrl: string;
  /** How they travel where the provider takes none by redirect: by a form (SAML bindings §3.5). */
  signOnBinding?: 'post' | undefined;
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
