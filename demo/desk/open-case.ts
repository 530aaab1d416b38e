import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Case } from '../cases.ts';

/**
 * Sends the browser to where a case begins, as one that the portal has never seen: the session is ended at the portal, and
 * its cookies are deleted. They come here too, since cookies are the same for every port of a host (RFC 6265 §8.5).
 */
export async function openCase(
  { path }: Case,
  portalOrigin: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { cookie = '' } = request.headers;
  const names = cookie
    .split(';')
    .map((pair) => pair.split('=')[0]?.trim() ?? '')
    .filter((name) => /^vestibule-[\w-]+$/.test(name));
  if (names.length > 0) {
    const headers = { cookie, 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'empty' };
    await fetch(`${portalOrigin}/portal/logout`, { headers, redirect: 'manual' }).catch(() => null);
    reply.header(
      'set-cookie',
      names.map((name) => `${name}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax`),
    );
  }
  return reply.redirect(path.startsWith('http') ? path : portalOrigin + path, 303);
}
