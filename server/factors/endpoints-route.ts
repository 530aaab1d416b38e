import type { FastifyReply, FastifyRequest } from 'fastify';
import { accountFields, accountUrl } from '#contract/account.ts';
import type { Config } from '../config/config.ts';
import { sendProblem } from '../http/refuse.ts';

/**
 * `GET /.well-known/passkey-endpoints`: where people add passkeys and look after them, for the programs that keep them (W3C:
 * Passkey Endpoints, §3). The same for everybody; 404 where no passkey can be made.
 */
export function passkeyEndpointsRoute({ passkeys, publicUrl, basePath }: Config) {
  const urlOf = (query?: Record<string, string>) => publicUrl.origin + accountUrl(basePath, 'passkeys', query);
  const body = JSON.stringify({ enroll: urlOf({ [accountFields.action]: 'enrol' }), manage: urlOf() });

  return async function passkeyEndpoints(_request: FastifyRequest, reply: FastifyReply) {
    if (!passkeys) return sendProblem(reply, 404);
    return reply.header('content-type', 'application/json').send(body);
  };
}
