import type { FastifyRequest } from 'fastify';
import { acceptableDestination } from '#contract/destination.ts';
import { longestUsername } from '#contract/payloads.ts';
import { happenedSince, turnOfForm } from '#contract/turn-of-form.ts';
import type { Deps } from '../deps/deps.ts';
import type { KeptForm } from '../http/refuse.ts';
import { turnsOf, turnsOfAnswer } from '../http/turns.ts';
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
  const turns = turnsOf(request, config);
  if (happenedSince(turn, turns) === 'signOut') return { typedUsername: '', destination: undefined };
  // Whose turn ends with this request typed the name, but may have the destination from somebody else.
  const isOver = happenedSince(turnOfForm(turns), turnsOfAnswer(request, config)) === 'signOut';
  const accepted = redirectURL && !isOver ? acceptableDestination(redirectURL, config.destinationRules) : null;
  return {
    typedUsername: [...username].slice(0, longestUsername).join(''),
    destination: accepted ? destinationToKeep(config.basePath, accepted) : undefined,
  };
}
