import type { FastifyReply, FastifyRequest } from 'fastify';
import { defaultDestination } from '#contract/destination.ts';
import type { Notice } from '#contract/notices.ts';
import type { Deps } from '../deps/deps.ts';
import { languageOverride } from '../http/request-url.ts';
import { toSingleSignOn } from '../sign-in/to-single-sign-on.ts';

/** Redirects to the empty form, to the default destination: nothing here is known to belong to this browser. */
export function toForm({ config }: Deps, request: FastifyRequest, reply: FastifyReply, notice?: Notice): FastifyReply {
  const way = { destination: defaultDestination(config.basePath), lang: languageOverride(request) };
  return toSingleSignOn(reply, config, { ...(notice && { notice }), username: null }, way);
}
