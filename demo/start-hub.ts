import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { root } from '#server/config/root.ts';
import { hubSecretHeader } from '#server/hub/hub-headers.ts';
import { arch, type Html, headOf, html } from './html.ts';
import { customers } from './people.ts';
import { type DemoServer, demoApp, listen, sendPage } from './start-server.ts';

const secretHeader = hubSecretHeader.toLowerCase();
const script = readFileSync(new URL('demo/files/hub.js', root), 'utf8');

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

/** Who the portal says is there: what a real hub reads from the headers of each request. */
export type Visitor = { user: string; email: string; customers: { key: string; name: string }[]; language: string };

type HubFacts = { name: string; startPage: string };

/** The frame of the sample hub's pages. */
function hubPage({ name, startPage }: HubFacts, visitor: Visitor, title: string, content: Html): Html {
  return html`${headOf(title, name, '/hub/look.css')}
<body class="hub">
<header class="bar"><a class="logo" href="/portal/portal.html">${arch}<span>${name}</span></a>
<nav aria-label="Hub"><a href="/hub/reports?year=2026">Reports</a><a href="/hub/orders/4711">Orders</a></nav>
<form method="post" action="/portal/logout"><span class="who">${visitor.user}</span><button class="button quiet">Sign out</button></form></header>
<main>${content}</main>
<footer class="foot"><span>A sample hub, made for the demo: your application stands here</span><a href="${startPage}">Start page of the demo</a></footer>
<script src="/hub/hub.js"></script>
</body>
</html>`;
}

/** Where a sign-in leads by default. */
function homePage(facts: HubFacts, visitor: Visitor, headers: [string, string][]): Html {
  const { user, email, customers, language } = visitor;
  return hubPage(
    facts,
    visitor,
    'Home',
    html`<h1>You are in, ${user}</h1>
<p class="lede">The portal let you through and told this hub who you are. The hub itself has no passwords and no sign-in.</p>
<div class="tiles two">
<section class="tile"><h2>Who I am</h2><dl>
<dt>Username</dt><dd>${user}</dd><dt>Email</dt><dd>${email}</dd>
<dt>${customers.length === 1 ? 'Customer' : 'Customers'}</dt><dd>${customers.map(({ name }) => name).join(', ')}</dd>
<dt>Language</dt><dd>${language || 'not set'}</dd></dl></section>
<section class="tile"><h2>Deep links</h2><p>Copy one, sign out, open it: after the sign-in you are back at this very place.</p><ul>
<li><a href="/hub/reports?year=2026&amp;region=north#march">Reports 2026, region north, at March</a></li>
<li><a href="/hub/orders/4711?tab=items#item-3">Order 4711, items, the third</a></li></ul></section>
<section class="tile wide"><h2>What the portal told the hub</h2>
<p>Headers of this request. Whatever a visitor sends under these names is removed before.</p>
<dl class="headers">${headers.map(([name, value]) => html`<dt>${name}</dt><dd>${value || '(empty)'}</dd>`)}</dl></section>
</div>`,
  );
}

const months = 'January February March April May June'.split(' ');

function reportsPage(facts: HubFacts, visitor: Visitor, query: URLSearchParams): Html {
  const region = query.get('region');
  return hubPage(
    facts,
    visitor,
    'Reports',
    html`<h1>Reports ${query.get('year') ?? ''}</h1>
<p class="lede">${region ? html`Region: <b>${region}</b>.` : 'All regions.'} ${arrival}</p>
<div class="tiles">${months.map(
      (month, index) => html`<section class="tile" id="${month.toLowerCase()}"><h2>${month}</h2>
<p class="figure">${(41 + ((index * 37) % 23)).toFixed(1)} t</p><p>shipped</p></section>`,
    )}</div>`,
  );
}

function orderPage(facts: HubFacts, visitor: Visitor, order: string): Html {
  const items = ['Pallets, oak', 'Straps, 25 mm', 'Corner guards', 'Labels, A6'];
  return hubPage(
    facts,
    visitor,
    `Order ${order}`,
    html`<h1>Order ${order}</h1><p class="lede">${arrival}</p>
<ol class="items">${items.map((item, index) => html`<li id="item-${index + 1}">${item}</li>`)}</ol>`,
  );
}

/** Filled in by the script, since a fragment never reaches a server. */
const arrival: Html = html`<span id="arrival"></span>`;
