import type { FastifyReply } from 'fastify';
import type { Notice } from '#contract/notices.ts';
import type { LoginFailType } from '#contract/reasons.ts';
import { queryNames, screenUrl } from '#contract/screens.ts';
import type { Config } from '../config/config.ts';
import { setLastRefusal } from '../http/last-refusal.ts';
import { destinationToKeep } from '../sessions/destination-of-form.ts';

/**
 * Answers a refused sign-in: the page of its type, which keeps reference, typed name and destination. `first` is one of
 * our addresses, which redirects there.
 */
export function turnAway(
  reply: FastifyReply,
  config: Config,
  {
    type,
    reference,
    username,
    notice,
    unknownPasskey = null,
  }: {
    type: LoginFailType;
    reference: string;
    username: string;
    notice?: Notice;
    /** The id of a passkey that nobody has: the page tells what keeps it. */
    unknownPasskey?: string | null;
  },
  {
    destination,
    lang,
    address,
    first,
  }: { destination: string; lang: string | undefined; address: string; first?: string | undefined },
): FastifyReply {
  const query = {
    [queryNames.ipAddress]: type === 'ip' ? address : undefined,
    [queryNames.notice]: notice,
    [queryNames.destination]: destinationToKeep(config.basePath, destination),
    lang,
  };
  const url = screenUrl(config.basePath, { name: 'loginFail', type }, query);
  setLastRefusal(reply, config, { reference, username, url, unknownPasskey });
  return reply.redirect(first ?? url, 303);
}
