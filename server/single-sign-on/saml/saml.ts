import type { Deps } from '../../deps/deps.ts';
import type { SamlConnection } from '../../storage/sso-connection.ts';
import { type Identity, type Refusal, refusalFor } from '../identity.ts';
import { portalKeys } from '../portal-keys.ts';
import { isProviderAddress } from '../provider-fetch.ts';
import type { SamlKept } from '../request-details.ts';
import { assertionRefusal } from './checks.ts';
import { samlIdentity } from './identity.ts';
import { type RequestFields, samlRequest } from './request.ts';
import { responseRefusal } from './response.ts';
import { said } from './said.ts';
import type { XmlReading } from './strict-xml.ts';
import { subjectName } from './subject.ts';
import { acceptableUntil } from './validity.ts';
import { verifiedAssertion } from './verification.ts';
import { attributeOf } from './xml-elements.ts';

/** What a SAML answer said, and what prevents a second use. */
export type SamlAnswer = { kind: 'ok'; identity: Identity; assertionId: string; endsAt: Date } | Refusal;

/** The provider's address to send a visitor to, with a signed AuthnRequest (SAML bindings §3.4). */
export async function startSaml(
  deps: Deps,
  { settings }: SamlConnection,
  { state, isAfresh = false }: { state: string; isAfresh?: boolean },
): Promise<{ kind: 'ok'; url: string; fields: RequestFields | null; kept: SamlKept } | Refusal> {
  if (!isProviderAddress(settings.signOnUrl))
    return refusalFor('connection-broken', `the sign-on address ${said(settings.signOnUrl)} is not allowed`);
  const [key] = await portalKeys(deps);
  const { id, url, fields } = await samlRequest(deps.config, settings, { key, state, isAfresh });
  return { kind: 'ok', url, fields, kept: { requestId: id } };
}

/** Reads the answer in a SAMLResponse field. */
export async function readSamlAnswer(
  deps: Deps,
  { settings, attributes }: SamlConnection,
  { response, kept }: { response: XmlReading; kept: SamlKept },
): Promise<SamlAnswer> {
  if (response.kind === 'refused') return refusalFor('answer-invalid', response.problem);
  const expected = { config: deps.config, settings, kept };
  const refusal = responseRefusal(response.root, expected);
  if (refusal) return refusal;
  const verified = await verifiedAssertion(deps, settings, response.root);
  if (verified.kind === 'refused') return verified;
  const { assertion } = verified;
  const now = deps.now();
  const failed = assertionRefusal(assertion, { ...expected, now });
  if (failed) return failed;
  const subject = await subjectName(deps, assertion);
  if (subject.kind === 'refused') return subject;
  const identity = samlIdentity(assertion, subject.name, { settings, attributes, config: deps.config });
  if (identity.kind === 'refused') return identity;
  return {
    kind: 'ok',
    identity: identity.identity,
    assertionId: attributeOf(assertion, 'ID') ?? '',
    endsAt: acceptableUntil(assertion),
  };
}
