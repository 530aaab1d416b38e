import type { Keys } from '../crypto/keys.ts';
import { unseal } from '../crypto/sealed.ts';
import { type Visit, visitPlace } from '../sessions/visit.ts';

/** What the answer of a SAML provider is compared with. */
export type SamlKept = { requestId: string };

/** What is kept of a visit to an OpenID provider until its answer arrives. */
export type OidcKept = {
  nonce: string;
  verifier: string;
  /** Where the answer must arrive. */
  redirectUri: string;
};

/** What is kept of a visit to a provider until it ends. */
export type VisitDetails = {
  /** The provider's. */
  url: string;
  /** Fields to post there, if the provider accepts no redirects. */
  fields: Record<string, string> | null;
  destination: string;
  lang: string | null;
  /** The typed address, to be filled in again; null if none was typed. */
  typed: string | null;
  /** Whether the provider was asked to authenticate again. */
  freshSignIn: boolean;
  kept: OidcKept | SamlKept;
};

/** The details of a visit; null if no current secret opens them. */
export function detailsOf(keys: Keys, { id, sealedDetails }: Visit): VisitDetails | null {
  const text = unseal(keys.seal, sealedDetails, visitPlace(id));
  return text === null ? null : (JSON.parse(text) as VisitDetails);
}

/** Where the visitor wanted to go, and what they typed. */
export function wayOf({ destination, lang, typed }: VisitDetails) {
  return { destination, lang: lang ?? undefined, typed };
}
