import type { FastifyRequest } from 'fastify';
import { queryNames } from '#contract/screens.ts';
import type { Brand } from '../brand/brand.ts';
import type { Brands } from '../deps/brands.ts';
import { queryValue } from './request-url.ts';

/** By the requests whose address does not say it, such as a provider's answer. */
const broughtBy = new WeakMap<FastifyRequest, string>();

/** The customer in whose brand a request's answer is, by key, as asked for; null for the installation's own. */
function brandAskedFor(request: FastifyRequest): string | null {
  return broughtBy.get(request) ?? queryValue(request, queryNames.customer);
}

/** Notes in whose brand a visit began, for an answer that its address says nothing of. */
export function bringBrand(request: FastifyRequest, key: string | null | undefined): void {
  if (key) broughtBy.set(request, key);
}

/** The brand of an answer. It depends on the address alone, never on whether an account exists. */
export function brandOfRequest(brands: Brands, request: FastifyRequest): Brand {
  const key = brandAskedFor(request);
  return (key !== null && brands.ofCustomer(key)) || brands.own;
}
