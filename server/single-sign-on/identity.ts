import type { SsoRefusalReason } from '../audit/audit-events.ts';
import { ConnectionBroken, type ProviderFailure } from '../http/provider-fetch.ts';

/** What a provider said of a person, after all checks of the protocol: not yet matched with a user. */
export type Identity = {
  /** What the provider calls the person, permanently and uniquely: 1 to 255 characters. */
  subject: string;
  email: string | null;
  /** It sends several addresses, and none is used: choosing one would be a guess. */
  tellsSeveralEmails?: true;
  /** Whether the provider says that it has verified the address. */
  emailVerified: boolean;
  /** The name for a user who is created just in time; it never finds one. */
  username: string | null;
  language: string | null;
  /** acr and amr, or AuthnContextClassRef. */
  authenticationContexts: string[];
  /** When the person last authenticated at the provider, in milliseconds; null if it does not say. */
  authenticatedAt: number | null;
  /** When the provider's session ends, in milliseconds; null if it does not say. */
  sessionEndsAt: number | null;
  /** The provider's own proof, which it expects at sign-out; null for SAML. */
  idToken: string | null;
  /** The provider's name for its session (sid, SessionIndex), by which it may end ours. */
  session?: string;
  /** The name as SAML wrote it, for asking the provider to end its session. */
  samlName?: SamlName;
};

/** A NameID with all its qualifiers (SAML core §2.2.3), and the SessionIndex sent with it. */
export type SamlName = {
  name: string;
  format: string | null;
  nameQualifier: string | null;
  spNameQualifier: string | null;
  sessionIndex: string | null;
};

/** A refusal; `words` are only for the operator, in the provider's words or ours. */
export type Refusal = {
  kind: 'refused';
  reason: SsoRefusalReason;
  words: string;
  /** The person, or the provider for them, refused: nothing was mistyped. */
  isCancelled?: true;
};

export function refusalFor(reason: SsoRefusalReason, words: string): Refusal {
  return { kind: 'refused', reason, words };
}

export type ProviderAnswer = { kind: 'ok'; identity: Identity } | Refusal;

/** Why nobody can sign in by a provider that failed. */
export function refusalOf(failure: ProviderFailure): Refusal {
  const reason = failure instanceof ConnectionBroken ? 'connection-broken' : 'provider-unreachable';
  return refusalFor(reason, failure.message);
}
