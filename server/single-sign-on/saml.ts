import type { Deps } from '../deps.ts';
import type { SamlConnection } from '../storage/sso-connection.ts';
import type { Identity, Refusal } from './identity.ts';

/** What of a visit to a SAML provider is kept until its answer comes. */
export type SamlKept = { requestId: string };

/** What a SAML answer said, with what keeps it from being used twice. */
export type SamlAnswer = { ok: true; identity: Identity; assertionId: string; endsAt: Date } | Refusal;

/** The address at the provider to send a visitor to, with a signed AuthnRequest (SAML bindings §3.4). */
export async function startSaml(
  _deps: Deps,
  _connection: SamlConnection,
  _visit: { state: string },
): Promise<{ ok: true; url: string; kept: SamlKept } | Refusal> {
  throw new Error('to be built');
}

/** Reads the answer in a SAMLResponse field; `kept` is null where the provider began by itself. */
export async function readSamlAnswer(
  _deps: Deps,
  _connection: SamlConnection,
  _answer: { samlResponse: string; kept: SamlKept | null },
): Promise<SamlAnswer> {
  throw new Error('to be built');
}
