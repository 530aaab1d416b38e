import type { FastifyRequest } from 'fastify';
import { destinationToCarry } from '#contract/destination-to-carry.ts';
import { queryNames } from '#contract/screens.ts';
import type { Config } from '../config/config.ts';
import { queryValue } from './request-url.ts';

/** The destination in the address of a request, judged; undefined if there is none to carry along. */
export function destinationOfAddress(request: FastifyRequest, config: Config): string | undefined {
  return destinationToCarry(queryValue(request, queryNames.destination), config.destinationRules);
}
