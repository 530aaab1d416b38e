import type { FastifyReply } from 'fastify';

/** Chromium applies `form-action` to the post: only this page may post, and only there (docs/decisions/0016). */
export function sendFormPolicy(reply: FastifyReply, url: string): void {
  const policy = String(reply.getHeader('content-security-policy'));
  reply.header(
    'content-security-policy',
    policy.replace(/form-action [^;]*/, `form-action 'self' ${new URL(url).origin}`),
  );
}
