import { errorCodes, type FastifyReply, type FastifyRequest } from 'fastify';

/**
 * Refuses a request with a body that is not answered in time, from when the body has arrived. Fastify's own timer
 * (`handlerTimeout`) ends then, since Node closes an incoming message once it is read.
 */
export function answerInTime(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  if (request.body !== undefined) {
    const timer = setTimeout(() => {
      if (!reply.sent) reply.send(new errorCodes.FST_ERR_HANDLER_TIMEOUT());
    }, request.routeOptions.handlerTimeout);
    reply.raw.once('close', () => clearTimeout(timer));
  }
  done();
}
