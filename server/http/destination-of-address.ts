import type { FastifyRequest } from 'fastify';
import { destinationToCarry } from '#contract/destination-to-carry.ts';
import { queryNames } from '#contract/screens.ts';
import { happenedSince } from '#contract/turn-of-form.ts';
import type { Config } from '../config/config.ts';
import { queryValue } from './request-url.ts';
import { turnsOf } from './turns.ts';

/**
 * The destination in the address of a request, judged; undefined if there is none to carry along. The address of a form
 * that was shown before a sign-out has the earlier person's.
 */
export function destinationOfAddress(request: FastifyRequest, config: Config): string | undefined {
  const turn = queryValue(request, queryNames.turn) ?? undefined;
  if (happenedSince(turn, turnsOf(request, config)) === 'signOut') return undefined;
  return destinationToCarry(queryValue(request, queryNames.destination), config.destinationRules);
}
