import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SamlForm } from '#contract/payloads.ts';
import { isToken } from '../../crypto/token.ts';
import type { Deps } from '../../deps.ts';
import { knownVisitorOf } from '../../sessions/visitor.ts';
import { claimVisit } from '../claim-visit.ts';
import { finishVisit } from '../finish-visit.ts';
import type { SamlKept } from '../visit-details.ts';
import { providerBegan } from './provider-began.ts';
import { readSamlAnswer } from './saml.ts';

/**
 * `POST authenticate/saml/finish`: a SAML answer, posted by our own page. Any provider can have that page posted, so neither
 * the sender nor SameSite proves anything here: the visit's cookie does, with the signed InResponseTo. The visit is
 * claimed before the XML is parsed.
 */
export function samlFinishRoute(deps: Deps) {
  return async function samlFinish(request: FastifyRequest<{ Body: SamlForm }>, reply: FastifyReply) {
    const visitor = await knownVisitorOf(deps, request, reply);
    if (!visitor) return reply;
    const { SAMLResponse: field, RelayState: state = '' } = request.body;
    if (!isToken(state))
      return await providerBegan(deps, request, reply, { samlResponse: field, address: visitor.address });
    const claimed = await claimVisit(deps, request, reply, { state, protocol: 'saml', visitor });
    if (!claimed) return reply;
    const kept = claimed.details.kept as SamlKept;
    const answer = await readSamlAnswer(deps, claimed.connection, { field, kept });
    return await finishVisit(deps, request, reply, visitor, claimed, answer);
  };
}
