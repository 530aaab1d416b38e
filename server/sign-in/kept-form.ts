import type { FastifyRequest } from 'fastify';
import { acceptableDestination } from '#contract/destination.ts';
import { longestUsername } from '#contract/payloads.ts';
import { happenedSince } from '#contract/turn-of-form.ts';
import type { Deps } from '../deps/deps.ts';
import type { KeptForm } from '../http/refuse.ts';
import { turnsOfAnswer } from '../http/turns.ts';
import { destinationToKeep } from './destination-to-keep.ts';

/** What a form that leads to a sign-in gets back if it cannot be processed; nothing of an earlier person's form. */
export function keptForm(
  { config }: Deps,
  request: FastifyRequest,
  {
    username = '',
    redirectURL,
    turn,
  }: { username?: string; redirectURL?: string | undefined; turn?: string | undefined },
): KeptForm {
  if (happenedSince(turn, turnsOfAnswer(request, config)) === 'signOut')
    return { typedUsername: '', destination: undefined };
  const accepted = redirectURL ? acceptableDestination(redirectURL, config.destinationRules) : null;
  return {
    typedUsername: [...username].slice(0, longestUsername).join(''),
    destination: accepted ? destinationToKeep(config.basePath, accepted) : undefined,
  };
}
