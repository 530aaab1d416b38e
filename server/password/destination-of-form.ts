import type { FastifyRequest } from 'fastify';
import type { Deps } from '../deps/deps.ts';
import { destinationOfAddress } from '../http/destination-of-address.ts';
import type { Visitor } from '../visitor/visitor.ts';
import { isSignedOut } from '../visitor/who.ts';

/** The destination in the address of a posted form; a form that was open before its turn ended has the earlier person's. */
export async function destinationOfForm(
  { config }: Deps,
  request: FastifyRequest,
  visitor: Visitor,
): Promise<string | undefined> {
  const destination = destinationOfAddress(request, config);
  return destination === undefined || isSignedOut(await visitor.who()) ? undefined : destination;
}
