import type { FastifyInstance } from 'fastify';
import { deskPath } from '#contract/desk.ts';
import type { Deps } from '../deps.ts';
import { readFilesIn } from '../http/request-body.ts';
import { nothingThere } from '../http/unexpected-error.ts';
import { visitorOf } from '../sessions/visitor.ts';
import { customer } from './customer.ts';
import type { DeskPageRoom } from './desk-page.ts';
import { deskRoute } from './desk-route.ts';
import { deskVisitOf } from './desk-visit.ts';
import { eventFiles, events } from './events.ts';
import { importPage } from './import.ts';
import { person } from './person.ts';
import { customers, search } from './search.ts';

/** Without a role every method is answered as at an address that does not exist. */
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Adds the desk: its pages with their forms. */
export async function addDesk(app: FastifyInstance, deps: Deps): Promise<void> {
  await app.register(async (desk) => {
    // Before a body is read: for whoever has no role there is no such address.
    desk.addHook('onRequest', async (request, reply) => {
      const visit = await deskVisitOf(deps, visitorOf(deps, request));
      if (!visit) return await nothingThere(deps, request, reply);
      request.desk = visit;
      return undefined;
    });
    const add = <Found>({ path, bodyLimit, ...room }: DeskPageRoom<Found>) =>
      desk.route({
        method: methods,
        url: deps.config.basePath + deskPath + path,
        config: { name: 'desk' },
        ...(bodyLimit !== undefined && { bodyLimit }),
        handler: deskRoute(deps, room),
      });
    readFilesIn(desk);
    add(search);
    add(events);
    for (const file of eventFiles) add(file);
    add(person);
    add(customers);
    add(customer);
    add(importPage);
  });
}
