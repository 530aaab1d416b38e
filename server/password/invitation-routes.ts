import type { FastifyReply, FastifyRequest } from 'fastify';
import { InvitationForm, InvitationPasskeyForm } from '#contract/payloads.ts';
import type { Deps } from '../deps/deps.ts';
import { destinationOfAddress } from '../http/destination-of-address.ts';
import { refuse, sendProblem } from '../http/refuse.ts';
import { browserToBegin } from '../passkeys/ceremony.ts';
import { knownVisitorOf } from '../visitor/visitor.ts';
import { answerLinkForm } from './answer-link-form.ts';
import { addByInvitation, beginByInvitation } from './passkey-by-invitation.ts';

/** The routes by which an invited person makes a passkey instead of a password (docs/decisions/0055). */
export function invitationRoutes(deps: Deps) {
  const rp = deps.config.passkeys;

  /** `POST passkeys/invitation/options`: begins it; 204 for a link that makes no passkey, which a page may only be asking. */
  async function begin(request: FastifyRequest<{ Body: InvitationForm }>, reply: FastifyReply) {
    if (!rp) return sendProblem(reply, 404);
    const visitor = await knownVisitorOf(deps, request, reply);
    if (!visitor) return reply;
    const browserToken = await browserToBegin(deps, request, reply, visitor);
    if (browserToken === null) return reply;
    const begun = await beginByInvitation(deps, rp, { visitor, token: request.body.hash }, browserToken);
    if (begun.kind === 'begun') return reply.send(begun.options);
    if (begun.kind === 'closed') return reply.code(204).send();
    return await refuse(deps, request, reply, 429, { retryAfter: begun.until.getTime() - deps.now().getTime() });
  }

  /** `POST passkeys/invitation`: 303 to the outcome, as for a password. */
  async function answer(request: FastifyRequest<{ Body: InvitationPasskeyForm }>, reply: FastifyReply) {
    if (!rp) return sendProblem(reply, 404);
    const visitor = await knownVisitorOf(deps, request, reply);
    if (!visitor) return reply;
    const { hash: token, credential } = request.body;
    const destination = destinationOfAddress(request, deps.config);
    const result = await addByInvitation(deps, rp, { visitor, token }, credential);
    const { address } = visitor;
    return await answerLinkForm(deps, request, reply, result, { token, address, destination, invited: 'passkey' });
  }

  return {
    options: { schema: { body: InvitationForm }, handler: begin },
    answer: { schema: { body: InvitationPasskeyForm }, handler: answer },
  };
}
