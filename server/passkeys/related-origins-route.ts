import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config/config.ts';
import { sendProblem } from '../http/refuse.ts';

/**
 * `GET /.well-known/webauthn`: the origins outside the domain of the passkeys whose pages may use them, for browsers (Web
 * Authentication Level 3, §5.11). The same for everybody; 404 if there are none.
 */
export function relatedOriginsRoute({ passkeys }: Pick<Config, 'passkeys'>) {
  const body = JSON.stringify({ origins: passkeys?.related ?? [] });

  return async function relatedOrigins(_request: FastifyRequest, reply: FastifyReply) {
    if (!passkeys || passkeys.related.length === 0) return sendProblem(reply, 404);
    return reply.header('content-type', 'application/json').send(body);
  };
}
