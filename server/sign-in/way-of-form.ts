import type { FastifyRequest } from 'fastify';
import { acceptableDestination, defaultDestination } from '#contract/destination.ts';
import type { Config } from '../config/config.ts';
import { languageOverride } from '../http/request-url.ts';
import type { KnownVisitor } from '../visitor/visitor.ts';

/** Where a sign-in leads, in which language, and from where. */
export type WayOfSignIn = { destination: string; lang: string | undefined; address: string };

/** Where the form of a sign-in leads. `accepted`: its destination if it may be gone to, else null; `isRefused`: it may not. */
export function wayOfForm(
  { destinationRules, basePath }: Config,
  request: FastifyRequest<{ Body: { redirectURL?: string } }>,
  { address }: Pick<KnownVisitor, 'address'>,
): { way: WayOfSignIn; accepted: string | null; isRefused: boolean } {
  const { redirectURL: asked } = request.body;
  const accepted = asked ? acceptableDestination(asked, destinationRules) : null;
  const way = { destination: accepted ?? defaultDestination(basePath), lang: languageOverride(request), address };
  return { way, accepted, isRefused: Boolean(asked) && accepted === null };
}
