import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AuditStep } from '../audit/audit-events.ts';
import type { Deps } from '../deps/deps.ts';
import type { SsoConnection } from '../storage/sso-connection.ts';
import type { KnownVisitor } from '../visitor/visitor.ts';
import { tooLongAgo } from './authentication-age.ts';
import type { EndedVisit } from './give-outcome.ts';
import { type Refusal, refusalFor } from './identity.ts';
import type { Outcome } from './outcome.ts';
import { recordSsoFailure } from './record-failure.ts';
import { waitingAnswer } from './request-details.ts';
import { signInByProvider } from './sign-in-by-provider.ts';
import { slowDownForFailure } from './slow-down.ts';

/** Decides on a consumed visit. Null if the visitor has to wait and has been answered. */
export async function decide(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  visitor: KnownVisitor,
  visit: EndedVisit,
  protocol: SsoConnection['protocol'],
): Promise<Outcome | null> {
  const { row, details, connection } = visit;
  const no = async (refusal: Refusal) =>
    await refused(deps, request, reply, { connection, protocol, address: visitor.address }, refusal);
  if (!details) return await no(refusalFor('request-unknown', 'no current secret can open it'));
  if (!connection?.active || connection.protocol !== protocol)
    return await no(refusalFor('connection-disabled', 'while the visitor was at the provider'));
  // The provider, or someone else, chose the account of this answer: a page asks before anything happens.
  if (row.browserHash === null) return { kind: 'providerBegan' };
  const answer = waitingAnswer(deps.keys, row)?.answer;
  if (!answer) return await no(refusalFor('request-unknown', 'the answer can no longer be read'));
  if (answer.kind === 'refused') return await no(answer);
  const { identity } = answer;
  const tooOld = tooLongAgo(connection, identity, deps.now());
  if (tooOld) {
    // SAML cannot express a maximum age: a person the provider did not ask again is sent back to be asked.
    if (protocol === 'saml' && !details.isAfresh) return { kind: 'sentBack' };
    return await no(refusalFor('authentication-too-old', tooOld));
  }
  const result = await signInByProvider(deps, connection, { identity, visitId: row.id }, visitor);
  switch (result.kind) {
    case 'otherAccount':
    case 'ended':
      return result;
    case 'refused':
      return { kind: 'refused', type: connection.protocol, reference: result.reference, forgets: true };
    case 'networkRefused':
      return { kind: 'refused', type: 'ip', reference: result.reference, forgets: false };
    case 'secondFactor': {
      const { kind, factor, mustRegister, sessionToken } = result;
      return { kind, factor, mustRegister, sessionToken };
    }
    case 'signedIn': {
      const { kind, sessionToken, deviceToken } = result;
      return { kind, sessionToken, deviceToken };
    }
  }
}

/** Counts and records a refusal, once. Null if it was answered that the visitor has to wait. */
async function refused(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  {
    connection,
    address,
    protocol,
  }: { connection: SsoConnection | null; address: string; protocol: SsoConnection['protocol'] },
  { reason, words, isCancelled, isUnable }: Refusal,
): Promise<Outcome | null> {
  if (await slowDownForFailure(deps, request, reply, address)) return null;
  const steps: AuditStep[] = [{ step: 'answer', outcome: words }];
  const reference = await recordSsoFailure(deps, { reason, connection, steps, address, requestId: request.id });
  return {
    kind: 'refused',
    type: protocol,
    reference,
    forgets: connection !== null,
    ...(isCancelled && { isCancelled }),
    ...(isUnable && { isUnable }),
  };
}
