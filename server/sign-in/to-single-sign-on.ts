import type { FastifyReply } from 'fastify';
import type { Notice } from '#contract/notices.ts';
import { queryNames, screenUrl } from '#contract/screens.ts';
import type { Config } from '../config/config.ts';
import { setLastRefusal } from '../http/last-refusal.ts';
import { destinationToKeep } from '../sessions/destination-of-form.ts';

/** Redirects to the single sign-on form, with the typed address kept in the browser. */
export function toSingleSignOn(
  reply: FastifyReply,
  config: Config,
  { notice, username }: { notice?: Notice; username: string | null },
  { destination, lang }: { destination: string; lang: string | undefined },
): FastifyReply {
  if (username !== null) setLastRefusal(reply, config, { reference: null, username });
  const query = {
    [queryNames.notice]: notice,
    [queryNames.destination]: destinationToKeep(config.basePath, destination),
    lang,
  };
  return reply.redirect(screenUrl(config.basePath, 'singleSignOn', query), 303);
}
