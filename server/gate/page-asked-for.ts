import type { FastifyRequest } from 'fastify';
import { acceptableDestination, defaultDestination } from '#contract/destination.ts';
import type { Config } from '../config/config.ts';

/** The page of the hub that a request is for, as a destination: its path and query, or the default if that is none. */
export function pageAskedFor({ destinationRules, basePath }: Config, { url }: FastifyRequest): string {
  return acceptableDestination(url, destinationRules) ?? defaultDestination(basePath);
}
