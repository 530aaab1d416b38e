import type { Keys } from '../secrets/keys.ts';
import { unseal } from '../secrets/sealed.ts';
import { requestPlace, type SsoRequestRow } from '../storage/sso-request.ts';
import type { ProviderAnswer } from './identity.ts';

/** What is kept of a visit to a SAML provider until its answer arrives. */
export type SamlKept = {
  requestId: string;
};

/** What is kept of a visit to an OpenID provider until its answer arrives. */
export type OidcKept = {
  nonce: string;
  verifier: string;
  /** Where the answer must arrive. */
  redirectUri: string;
};

/** What is kept of a visit to a provider until it ends. */
export type RequestDetails = {
  /** The provider's. */
  url: string;
  /** Fields to post there, if the provider accepts no redirects. */
  fields?: Record<string, string> | null;
  destination: string;
  lang: string | null;
  /** The typed address, to be filled in again; null if none was typed. */
  typed: string | null;
  /** Whether the provider was asked to authenticate again. */
  isAfresh?: boolean;
  kept: OidcKept | SamlKept;
};

/** The details of a request; null if no current secret opens them. */
export function detailsOf(keys: Keys, { id, sealedDetails }: SsoRequestRow): RequestDetails | null {
  return read<RequestDetails>(keys, id, sealedDetails);
}

/** Where the visitor wanted to go, and what they typed. */
export function wayOf({ destination, lang, typed }: RequestDetails) {
  return { destination, lang: lang ?? undefined, typed };
}

/** An answer awaiting the browser that brought it. One by SAML has a token for that browser. */
export type WaitingAnswer = { answer: ProviderAnswer; saml?: { assertionId: string; token: string } };

/** The answer to a request, waiting or used, or null. */
export function waitingAnswer(keys: Keys, { id, sealedAnswer }: SsoRequestRow): WaitingAnswer | null {
  return sealedAnswer && read<WaitingAnswer>(keys, id, sealedAnswer);
}

function read<T>(keys: Keys, id: string, sealed: Buffer): T | null {
  const text = unseal(keys.seal, sealed, requestPlace(id));
  return text === null ? null : (JSON.parse(text) as T);
}
