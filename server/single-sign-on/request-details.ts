import type { Keys } from '../deps.ts';
import { unseal } from '../secrets/sealed.ts';
import { requestPlace, type SsoRequestRow } from '../storage/sso-request.ts';
import type { Identity } from './identity.ts';

/** What of a visit to a SAML provider is kept until its answer comes. */
export type SamlKept = {
  requestId: string;
  /** Whether the provider was told to ask the person anew. */
  isAfresh?: boolean;
};

/** What of a visit to an OpenID provider is kept until its answer comes. */
export type OidcKept = {
  nonce: string;
  verifier: string;
  /** Where the answer has to come. */
  redirectUri: string;
};

/** What is kept of a visit to a provider until it is over. */
export type RequestDetails = {
  /** Of the provider; null where it began by itself. */
  url: string | null;
  /** What a form posts there, where the provider takes no request by redirect. */
  fields?: Record<string, string> | null;
  destination: string;
  lang: string | null;
  /** The address that was typed, to be filled in again. */
  typed: string | null;
  kept: OidcKept | SamlKept | null;
};

/** The details of a request; null when no secret of today opens them. */
export function detailsOf(keys: Keys, { id, sealedDetails }: SsoRequestRow): RequestDetails | null {
  return read<RequestDetails>(keys, id, sealedDetails);
}

/** Where the visitor wanted to go, and what he typed. */
export function wayOf({ destination, lang, typed }: RequestDetails) {
  return { destination, lang: lang ?? undefined, typed };
}

/** A SAML answer that waits for the browser that brought it, which is known by the token. */
export type WaitingAnswer = { identity: Identity; assertionId: string; token: string };

/** The answer that a request got, waiting or used; null when there is none. */
export function waitingAnswer(keys: Keys, { id, sealedAnswer }: SsoRequestRow): WaitingAnswer | null {
  return sealedAnswer && read<WaitingAnswer>(keys, id, sealedAnswer);
}

function read<T>(keys: Keys, id: string, sealed: Buffer): T | null {
  const text = unseal(keys.seal, sealed, requestPlace(id));
  return text === null ? null : (JSON.parse(text) as T);
}
