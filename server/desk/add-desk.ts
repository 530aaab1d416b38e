import type { FastifyInstance } from 'fastify';
import { deskPath } from '#contract/desk.ts';
import type { Deps } from '../deps.ts';
import { readFilesIn } from '../http/request-body.ts';
import { customer } from './customer.ts';
import { customers } from './customers.ts';
import type { DeskPageRoom } from './desk-page.ts';
import { admitToDesk, deskRoute } from './desk-route.ts';
import { eventFiles, events } from './events.ts';
import { importPage } from './import.ts';
import { person } from './person.ts';
import { search } from './search.ts';

/** Without a role every method is answered as at an address that does not exist. */
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Adds the desk: its pages with their forms. */
export async function addDesk(app: FastifyInstance, deps: Deps): Promise<void> {
  await app.register(async (desk) => {
    desk.addHook('onRequest', admitToDesk(deps));
    const add = <Found>(room: DeskPageRoom<Found>) =>
      desk.route({
        method: methods,
        url: deps.config.basePath + deskPath + room.path,
        config: { name: 'desk' },
        ...(room.bodyLimit !== undefined && { bodyLimit: room.bodyLimit }),
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
