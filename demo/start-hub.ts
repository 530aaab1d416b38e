import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { decodeJwt } from 'jose';
import { root } from '#server/config/root.ts';
import { hubSecretHeader } from '#server/hub/hub-headers.ts';
import { type HubFacts, homePage, orderPage, ordersPage, reportsPage, type Visitor } from './hub-pages.ts';
import { customers } from './people.ts';
import { thisMachine } from './place.ts';
import { type DemoServer, demoApp, listen, sendPage } from './start-server.ts';

const secretHeader = hubSecretHeader.toLowerCase();
const script = readFileSync(new URL('demo/files/hub.js', root), 'utf8');

/**
 * The sample hub: a small application for a freight company, without a sign-in of its own. It believes the headers, so it
 * answers only what comes through the portal's gate.
 */
export async function startHub(
  facts: HubFacts,
  css: () => string,
  { secret, names }: { secret: string; names: readonly string[] },
): Promise<DemoServer> {
  // The gate passes on the name that the browser asked for.
  const app = demoApp({ ...thisMachine, names });
  app.addHook('onRequest', async ({ headers }, reply) => {
    if (headers[secretHeader] !== secret) return await reply.code(403).send('Come through the portal.');
  });
  app.get('/portal/portal.html', ({ headers }, reply) => sendPage(reply, homePage(facts, visitorOf(headers))));
  app.get('/hub/orders', ({ headers }, reply) => sendPage(reply, ordersPage(facts, visitorOf(headers))));
  app.get<{ Params: { order: string } }>('/hub/orders/:order', ({ headers, params }, reply) =>
    sendPage(reply, orderPage(facts, visitorOf(headers), params.order)),
  );
  app.get('/hub/reports', ({ headers, query }, reply) =>
    sendPage(reply, reportsPage(facts, visitorOf(headers), new URLSearchParams(query as Record<string, string>))),
  );
  app.get('/hub/look.css', (_request, reply) => reply.type('text/css').send(css()));
  app.get('/hub/hub.js', (_request, reply) => reply.type('text/javascript').send(script));
  return await listen(app, thisMachine);
}

/** Who the portal says is there. Values are percent-encoded; lists are split first. */
function visitorOf(headers: IncomingHttpHeaders): Visitor {
  const told = (name: string) => String(headers[`x-vestibule-${name}`] ?? '');
  const list = (name: string) => told(name).split(',').filter(Boolean).map(decodeURIComponent);
  const user = decodeURIComponent(told('user'));
  return {
    user,
    name: decodeURIComponent(told('name')) || user,
    email: decodeURIComponent(told('email')),
    groups: list('groups'),
    customers: list('customers').map((key) => customers.find((customer) => customer.key === key)?.name ?? key),
    language: decodeURIComponent(told('language')),
    headers: Object.entries(headers)
      .filter(([name]) => name.startsWith('x-vestibule-') && name !== secretHeader)
      .map(([name, value]) => [name, String(value)]),
    token: told('token') === '' ? null : decodeJwt(told('token')),
  };
}
