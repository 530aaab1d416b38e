import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { hubSecretHeader } from '#server/hub/hub-headers.ts';
import { customers } from '../people.ts';
import { type DemoServer, demoApp, listen, sendPage } from '../start-server.ts';
import { type HubFacts, homePage, orderPage, reportsPage, type Visitor } from './hub-pages.ts';

const secretHeader = hubSecretHeader.toLowerCase();
const script = readFileSync(new URL('../files/hub.js', import.meta.url), 'utf8');

/**
 * The sample hub: an application without a sign-in of its own. It believes the headers, so it answers only what comes
 * through the portal's gate.
 */
export async function startHub(facts: HubFacts, css: () => string, secret: string): Promise<DemoServer> {
  const app = demoApp();
  app.addHook('onRequest', async ({ headers }, reply) => {
    if (headers[secretHeader] !== secret) return await reply.code(403).send('Come through the portal.');
  });
  app.get('/portal/portal.html', ({ headers }, reply) =>
    sendPage(reply, homePage(facts, visitorOf(headers), toldOf(headers))),
  );
  app.get('/hub/reports', ({ headers, query }, reply) =>
    sendPage(reply, reportsPage(facts, visitorOf(headers), new URLSearchParams(query as Record<string, string>))),
  );
  app.get<{ Params: { order: string } }>('/hub/orders/:order', ({ headers, params }, reply) =>
    sendPage(reply, orderPage(facts, visitorOf(headers), params.order)),
  );
  app.get('/hub/look.css', (_request, reply) => reply.type('text/css').send(css()));
  app.get('/hub/hub.js', (_request, reply) => reply.type('text/javascript').send(script));
  return await listen(app);
}

/** Values are percent-encoded; the customers are split first. */
function visitorOf(headers: IncomingHttpHeaders): Visitor {
  const told = (name: string) => String(headers[`x-vestibule-${name}`] ?? '');
  const keys = told('customers').split(',').filter(Boolean).map(decodeURIComponent);
  return {
    user: decodeURIComponent(told('user')),
    email: decodeURIComponent(told('email')),
    customers: keys.map((key) => ({ key, name: customers.find((customer) => customer.key === key)?.name ?? key })),
    language: decodeURIComponent(told('language')),
  };
}

function toldOf(headers: IncomingHttpHeaders): [string, string][] {
  return Object.entries(headers)
    .filter(([name]) => (name.startsWith('x-vestibule-') && name !== secretHeader) || name === 'authorization')
    .map(([name, value]) => [name, String(value)]);
}
