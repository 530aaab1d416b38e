import type { SsoRefusalReason } from '../audit/audit-events.ts';
import { ConnectionBroken, type ProviderFailure } from '../http/provider-fetch.ts';
import { limits } from '../limits.ts';

/** What a provider said of a person, after all checks of the protocol: not yet matched with a user. */
export type Identity = {
  /** What the provider calls the person, permanently and uniquely: 1 to 255 characters. */
  subject: string;
  /** By what names the provider sent something of the person, for operators who need one for `--map`. */
  sent: string[];
  /** Different addresses. Of several, none is used: choosing one would be a guess. */
  emails: string[];
  emailVerified: boolean;
  /** The name for a user who is created just in time; it never finds one. */
  username: string | null;
  language: string | null;
  name: string | null;
  /** Within the connection's customer; null: the operator lets the provider say none. */
  groups: string[] | null;
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
export type Refusal = { kind: 'refused'; reason: SsoRefusalReason; words: string };

export function refusalFor(reason: SsoRefusalReason, words: string): Refusal {
  return { kind: 'refused', reason, words };
}

export type ProviderAnswer = { kind: 'ok'; identity: Identity } | Refusal;

/** Why nobody can sign in by a provider that failed. */
export function refusalOf(failure: ProviderFailure): Refusal {
  const reason = failure instanceof ConnectionBroken ? 'connection-broken' : 'provider-unreachable';
  return refusalFor(reason, failure.message);
}

/**
 * When the person authenticated at the provider; null if the provider does not say, or names a time beyond the
 * tolerance for clocks in the future, which would become a proof later if it were stored. Impossibly early times are
 * ignored too, as not all of them can be stored.
 */
export function provenAtProvider({ authenticatedAt }: Pick<Identity, 'authenticatedAt'>, now: Date): Date | null {
  if (authenticatedAt === null || authenticatedAt < 0) return null;
  if (authenticatedAt > now.getTime() + limits.providerClock) return null;
  return new Date(authenticatedAt);
}

const longestWords = 200;

/**
 * Text from a provider, or from someone claiming to be it: one line of visible ASCII for the operator's records.
 * Nothing in it moves a terminal's cursor or ends a log line.
 */
export function providerWords(text: string): string {
  const words = text
    .slice(0, longestWords + 1)
    .replace(/[^\x20-\x7e]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return words.length > longestWords ? `${words.slice(0, longestWords - 3)}...` : words;
}

/** Foreign text in quotes, for an operator to read; `nothing` if there is none. */
export function said(text: string | null | undefined): string {
  return text === null || text === undefined ? 'nothing' : `"${providerWords(text)}"`;
}
