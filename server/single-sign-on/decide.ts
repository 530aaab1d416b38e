import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AuditStep } from '../audit/audit-events.ts';
import type { Deps } from '../deps/deps.ts';
import type { SsoConnection } from '../storage/sso-connection.ts';
import { wishAfterSignOut } from '../visitor/ask-afresh.ts';
import { visitorOf } from '../visitor/visitor.ts';
import { notAskedAfresh, tooLongAgo } from './authentication-age.ts';
import type { EndedVisit } from './give-outcome.ts';
import { type Identity, type Refusal, refusalFor } from './identity.ts';
import { askWho, signedInHere } from './other-account.ts';
import type { Outcome } from './outcome.ts';
import { recordSsoFailure } from './record-failure.ts';
import { waitingAnswer } from './request-details.ts';
import { signInByProvider } from './sign-in-by-provider.ts';
import { slowDownForFailure } from './slow-down.ts';

type Deciding = EndedVisit & { address: string };

/** Decides on a consumed visit. Null if the visitor has to wait and has been answered. */
export async function decide(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  visit: Deciding,
  protocol: SsoConnection['protocol'],
): Promise<Outcome | null> {
  const { row, details, connection } = visit;
  const no = async (refusal: Refusal) => await refused(deps, request, reply, { ...visit, protocol }, refusal);
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
  return await signIn(deps, request, { ...visit, connection }, { identity, agreedTo: null });
}

/**
 * Signs in the person a provider vouched for. A page asks first if someone else is signed in here at this moment, or if
 * someone signed out here and the provider did not authenticate the person again, or what was typed is none of their names,
 * or nothing was and they are new to this browser, unless the person has agreed to this username (docs/decisions/0029).
 */
export async function signIn(
  deps: Deps,
  request: FastifyRequest,
  { row, details, connection, address }: Deciding & { connection: SsoConnection },
  { identity, agreedTo }: { identity: Identity; agreedTo: string | null },
): Promise<Outcome> {
  const isAgreed = agreedTo !== null;
  const here = isAgreed ? null : await signedInHere(deps, request);
  // Somebody may have signed out here while the visit was out, and this browser's next cookies say so.
  const isAfterSignOut = details?.isAfterSignOut || wishAfterSignOut(request, deps.config, connection) !== null;
  const doubt =
    !isAgreed && details && isAfterSignOut ? notAskedAfresh(identity, { ...details, madeAt: row.madeAt }) : null;
  const vouched = {
    identity,
    visitId: row.id,
    expected: here?.userId ?? null,
    mustAsk: doubt !== null,
    typed: details?.typed ?? null,
    providerBegan: details?.providerBegan === true,
    agreedTo,
  };
  const result = await signInByProvider(deps, connection, vouched, { ...visitorOf(deps, request), address });
  switch (result.kind) {
    case 'otherAccount': {
      const { username } = result;
      // Somebody else may have signed in only now.
      const asked = {
        identity,
        username,
        here: await signedInHere(deps, request),
        doubt: doubt === null ? result.doubt : { step: 'fresh sign-in', outcome: doubt },
        connection,
        address,
      };
      const token = await askWho(deps, request, row, asked);
      return { kind: 'asked', token };
    }
    case 'overtaken':
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
export async function refused(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  { connection, address, protocol }: Deciding & { protocol: SsoConnection['protocol'] },
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
