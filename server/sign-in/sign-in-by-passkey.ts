import type { FastifyReply, FastifyRequest } from 'fastify';
import { PasskeyForm } from '#contract/payloads.ts';
import { screenUrl } from '#contract/screens.ts';
import { insertAuditEvent } from '../audit/audit-event.ts';
import { type AuditStep, customersOfEvent } from '../audit/audit-events.ts';
import { newToken, tokenHash } from '../crypto/token.ts';
import type { Deps } from '../deps.ts';
import { noteDevice } from '../factors/devices.ts';
import { refusePasskey, waitOfPasskeys } from '../factors/passkey-ceremony.ts';
import { type RefusedPasskey, takePasskey } from '../factors/take-passkey.ts';
import { refuse, sendProblem } from '../http/refuse.ts';
import { destinationOfForm, destinationToKeep, keptForm } from '../sessions/destination.ts';
import { deleteSessionOfBrowser, insertSession } from '../sessions/session.ts';
import { type Visitor, visitorOf } from '../sessions/visitor.ts';
import { letIn, refuseSignIn } from './answer-sign-in.ts';

export const passkeySignInSchema = { body: PasskeyForm };

/** `POST passkeys/sign-in`: 303 to the destination, or to one page for every refusal. It needs no second factor. */
export function passkeySignInRoute(deps: Deps) {
  const { config } = deps;

  return async function passkeySignIn(request: FastifyRequest<{ Body: PasskeyForm }>, reply: FastifyReply) {
    if (!config.passkeys) return sendProblem(reply, 404);
    const visitor = visitorOf(deps, request);
    const { onwards, accepted } = destinationOfForm(config, request);
    const wait = await waitOfPasskeys(deps, visitor);
    if (wait) return await refuse(deps, reply, 429, { ...wait, form: keptForm(config, request.body) });
    const steps: AuditStep[] = [];
    const result = await signInByPasskey(deps, visitor, request.body.credential, steps);
    if (result.kind === 'signedIn') {
      deps.metrics.signIns.inc({ method: 'passkey', outcome: 'signed-in' });
      deps.wake.mails();
      return await letIn(deps, reply, result, { ...onwards, username: null });
    }
    const reference = await refusePasskey(deps, visitor, { ...result, steps });
    // The browser keeps no cookies.
    if (result.reason === 'challenge-unknown' && request.headers.cookie === undefined) {
      const destination = accepted ? destinationToKeep(config.basePath, accepted) : undefined;
      const query = { notice: 'cookiesNeeded', destination, lang: onwards.lang };
      return reply.redirect(screenUrl(config.basePath, 'login', query), 303);
    }
    const type = result.reason === 'network' ? 'ip' : 'passkey';
    return refuseSignIn(reply, config, { type, reference, username: '' }, onwards);
  };
}

/** Stores all or nothing, except that the challenge is used up in any case. */
async function signInByPasskey(
  deps: Deps,
  visitor: Visitor,
  answer: string,
  steps: AuditStep[],
): Promise<{ kind: 'signedIn'; sessionToken: string; deviceToken: string } | RefusedPasskey> {
  const { address, browser, requestId, sessionHash, passkeyToken: browserToken } = visitor;
  return await deps.sql.begin(async (sql) => {
    const taken = await takePasskey(deps, sql, { purpose: 'sign-in', browserToken, answer, address }, steps);
    if (taken.kind === 'refused') return taken;
    const { passkey, user, admitting } = taken;
    const now = deps.now();
    const sessionToken = newToken();
    await deleteSessionOfBrowser(sql, sessionHash);
    await insertSession(sql, {
      tokenHash: tokenHash(sessionToken),
      userId: user.id,
      waitsFor: [],
      proof: 'passkey',
      provenAt: now,
      customerIds: admitting.map(({ id }) => id),
      address,
      browser,
      passkeyId: passkey.id,
      now,
      endsAt: new Date(now.getTime() + deps.config.sessionAbsolute),
    });
    const deviceToken = await noteDevice(sql, user, visitor, { passkey: passkey.name, byPassword: false, now });
    const who = { userId: user.id, username: user.username, ...customersOfEvent(admitting) };
    await insertAuditEvent(sql, { event: 'signed-in', ...who, address, browser, requestId, steps }, now);
    return { kind: 'signedIn' as const, sessionToken, deviceToken };
  });
}
