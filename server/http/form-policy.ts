import type { FastifyReply } from 'fastify';

/** Chromium holds the post to `form-action`: this page alone may post to this one place alone (docs/decisions/0016). */
export function sendFormPolicy(reply: FastifyReply, url: string): void {
  const policy = String(reply.getHeader('content-security-policy'));
  reply.header(
    'content-security-policy',
    policy.replace(/form-action [^;]*/, `form-action 'self' ${new URL(url).origin}`),
  );
}
