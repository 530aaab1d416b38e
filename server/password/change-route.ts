import type { FastifyReply, FastifyRequest } from 'fastify';
import { invitedParameter, invitedValues } from '#contract/invited.ts';
import { ChangeForm } from '#contract/payloads.ts';
import type { Deps } from '../deps/deps.ts';
import { destinationOfAddress } from '../http/destination-of-address.ts';
import { formKeeper } from '../http/form-again.ts';
import { knownVisitorOf } from '../visitor/visitor.ts';
import { answerLinkForm } from './answer-link-form.ts';
import { changePassword } from './change-password.ts';

export const changeSchema = { body: ChangeForm };

/** `POST password/change` (decisions §6): 303 to the outcome. */
export function changeRoute(deps: Deps) {
  return async function change(request: FastifyRequest<{ Body: ChangeForm }>, reply: FastifyReply) {
    const visitor = await knownVisitorOf(deps, request, reply);
    if (!visitor) return reply;
    const { address, language, requestId } = visitor;
    const { hash: token = '', password, repeat } = request.body;
    const change = { token, password, repeat, address, language, requestId };
    const destination = destinationOfAddress(request, deps.config);
    const result = await changePassword(deps, change);
    const invited = 'purpose' in result && result.purpose === 'invitation' ? 'choice' : null;
    return await answerLinkForm(deps, request, reply, result, { token, address, destination, invited });
  };
}

/** `invited`: whose form it is, of an invitation to make a passkey; null for a password. */
export function changeFormAgain(deps: Deps, invited: 'passkey' | null = null) {
  return formKeeper(deps, 'forgottenChange', ({ hash = '' }: Partial<ChangeForm>, request) => ({
    destination: destinationOfAddress(request, deps.config),
    ...(invited && { query: { [invitedParameter]: invitedValues[invited] } }),
    page: { resetHash: hash, typedUsername: '', ...(invited && { invitation: invited }) },
  }));
}
