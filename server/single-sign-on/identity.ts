import type { SsoRefusalReason } from '../audit/audit-events.ts';

/** What a provider said of somebody, after every check of the protocol: nothing in it has been matched with a user yet. */
export type Identity = {
  /** What the provider calls the person, for ever and for nobody else: 1 to 255 characters. */
  subject: string;
  email: string | null;
  /** It tells several addresses, of which none is taken: which of them is meant would be a guess. */
  tellsSeveralEmails?: true;
  /** Whether the provider says that it has verified the address. */
  emailVerified: boolean;
  /** The name for a user who is made just in time; it never finds one. */
  username: string | null;
  language: string | null;
  /** acr and amr, or AuthnContextClassRef. */
  authenticationContexts: string[];
  /** When the person last proved to the provider who he is, in milliseconds; null when it does not say. */
  authenticatedAt: number | null;
  /** When the provider issued the answer, in milliseconds. */
  issuedAt: number;
  /** From when on the provider does not count the person as signed in, in milliseconds; null when it does not say. */
  sessionEndsAt: number | null;
  /** The provider's own proof, which it wants to see at sign-out; null for SAML. */
  idToken: string | null;
  /** The provider's own name for its session (sid, SessionIndex), by which it may end ours. */
  session?: string;
  /** The name as SAML wrote it, by which the provider is asked to end its session. */
  samlName?: SamlName;
};

/** A NameID with all that belongs to it (SAML core §2.2.3), and the SessionIndex that came with it. */
export type SamlName = {
  name: string;
  format: string | null;
  nameQualifier: string | null;
  spNameQualifier: string | null;
  sessionIndex: string | null;
};

/** An answer that does not let anybody in; `words` are for the operator alone, in the provider's words or ours. */
export type Refusal = {
  ok: false;
  reason: SsoRefusalReason;
  words: string;
  /** The person, or the provider for them, said no: nothing was mistyped. */
  isCancelled?: true;
};

export type ProviderAnswer = { ok: true; identity: Identity } | Refusal;
