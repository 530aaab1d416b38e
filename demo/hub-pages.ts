import { arch, type Html, headOf, html } from './html.ts';

/** What a hub knows of who is there: the portal tells it with each request. */
export type Visitor = {
  user: string;
  name: string;
  email: string;
  /** Such as `alder:planning`. */
  groups: readonly string[];
  /** By their names. */
  customers: readonly string[];
  language: string;
  headers: readonly [string, string][];
  /** What the signed token says; null if there is none. */
  token: object | null;
};

export type HubFacts = { name: string; startPage: string };

/** Who may read reports, in every customer. */
const readers = ['planning', 'management'];

/** The frame of the sample hub's pages. */
function hubPage({ name, startPage }: HubFacts, visitor: Visitor, path: string, title: string, content: Html): Html {
  const link = (to: string, text: string) =>
    html`<a href="${to}"${to.split('?')[0] === path && html` aria-current="page"`}>${text}</a>`;
  return html`${headOf(title, name, '/hub/look.css')}
<body class="hub">
<a class="skip" href="#main">Skip to the content</a>
<header class="bar"><a class="logo" href="/portal/portal.html">${arch}<span>${name}</span></a>
<nav aria-label="Hub">${link('/portal/portal.html', 'Overview')}${link('/hub/orders', 'Orders')}${link('/hub/reports?year=2026', 'Reports')}</nav>
<details class="menu"><summary><span class="initials" aria-hidden="true">${initials(visitor.name)}</span><span class="who">${visitor.name}</span></summary>
<div><p><b>${visitor.name}</b><br>${visitor.email}<br>${visitor.customers.join(', ')}</p>
<a href="/portal/account">Account</a>
<form method="post" action="/portal/logout"><button>Sign out</button></form></div></details></header>
<main id="main">${content}</main>
<footer class="foot"><span>A sample application, made for the demo: yours stands here</span><a href="${startPage}">Start page of the demo</a></footer>
<script src="/hub/hub.js"></script>
</body>
</html>`;
}

function initials(name: string): string {
  const words = name.split(/[\s.@_-]+/).filter(Boolean);
  return [words[0], words.length > 1 ? words.at(-1) : ''].map((word = '') => word.charAt(0).toUpperCase()).join('');
}

/** Where a sign-in leads by default. */
export function homePage(facts: HubFacts, visitor: Visitor): Html {
  const { name, customers, groups, headers, token } = visitor;
  return hubPage(
    facts,
    visitor,
    '/portal/portal.html',
    'Overview',
    html`<h1>Welcome, ${name}</h1>
<p class="lede">Freight of ${customers.join(' and ')}, today.</p>
<div class="tiles">
<section class="tile"><h2>Open orders</h2><p class="figure">${orders.length}</p><p><a href="/hub/orders">See them</a></p></section>
<section class="tile"><h2>At sea</h2><p class="figure">2</p><p>The next one lands on Thursday.</p></section>
<section class="tile"><h2>Your groups</h2><p class="figure small">${groups.map(nameOf).join(', ') || 'None'}</p><p>${mayRead(visitor) ? 'They open the reports to you.' : 'Reports are for planning and management.'}</p></section>
</div>
<section><h2>Latest orders</h2>${orderTable()}</section>
<details class="told"><summary>What the portal tells this application</summary>
<p>These headers come with each request; whatever a visitor sends under their names is removed before.</p>
<dl class="headers">${headers.map(([name, value]) => html`<dt>${name}</dt><dd>${value || '(empty)'}</dd>`)}</dl>
${token !== null && html`<p>The token is signed by the portal, so that it can be passed on to other services. It says:</p><pre>${JSON.stringify(token, null, 2)}</pre>`}
</details>`,
  );
}

function mayRead({ groups }: Visitor): boolean {
  return groups.some((group) => readers.includes(nameOf(group)));
}

/** A group without its customer. */
function nameOf(group: string): string {
  return group.slice(group.indexOf(':') + 1);
}

type Order = { number: number; what: string; route: string; state: string };

const orders: readonly Order[] = [
  { number: 4711, what: 'Oak pallets, 24', route: 'Gdynia to Rotterdam', state: 'At sea' },
  { number: 4708, what: 'Bicycle frames, 310', route: 'Porto to Hamburg', state: 'At sea' },
  { number: 4702, what: 'Cheese, 6 t, cooled', route: 'Den Helder to Genoa', state: 'Loading' },
  { number: 4699, what: 'Glass, 40 crates', route: 'Trieste to Cork', state: 'Customs' },
];

export function ordersPage(facts: HubFacts, visitor: Visitor): Html {
  return hubPage(facts, visitor, '/hub/orders', 'Orders', html`<h1>Orders</h1>${orderTable()}`);
}

function orderTable(): Html {
  return html`<table class="orders"><thead><tr><th scope="col">Order</th><th scope="col">Goods</th><th scope="col">Route</th><th scope="col">State</th></tr></thead>
<tbody>${orders.map(
    ({ number, what, route, state }) =>
      html`<tr><th scope="row"><a href="/hub/orders/${number}">${number}</a></th><td>${what}</td><td>${route}</td><td>${state}</td></tr>`,
  )}</tbody></table>`;
}

export function orderPage(facts: HubFacts, visitor: Visitor, number: string): Html {
  const order = orders.find((one) => String(one.number) === number);
  const stops = ['Ordered', 'Collected', 'Loaded', 'Unloaded'];
  return hubPage(
    facts,
    visitor,
    '/hub/orders',
    `Order ${number}`,
    html`<h1>Order ${number}</h1>
<p class="lede">${order ? html`${order.what}, ${order.route}: ${order.state.toLowerCase()}. ` : 'There is no such order here. '}${arrival}</p>
${order !== undefined && html`<ol class="items">${stops.map((stop, index) => html`<li id="item-${index + 1}">${stop}</li>`)}</ol>`}`,
  );
}

const months = 'January February March April May June'.split(' ');

export function reportsPage(facts: HubFacts, visitor: Visitor, query: URLSearchParams): Html {
  const region = query.get('region');
  const figures = html`<div class="tiles">${months.map(
    (month, index) => html`<section class="tile" id="${month.toLowerCase()}"><h2>${month}</h2>
<p class="figure">${(41 + ((index * 37) % 23)).toFixed(1)} t</p><p>shipped</p></section>`,
  )}</div>`;
  return hubPage(
    facts,
    visitor,
    '/hub/reports',
    'Reports',
    html`<h1>Reports ${query.get('year') ?? ''}</h1>
<p class="lede">${region ? html`Region: <b>${region}</b>.` : 'All regions.'} ${arrival}</p>
${mayRead(visitor) ? figures : html`<p class="empty">Reports are for the groups planning and management. The portal says that you are in ${visitor.groups.map(nameOf).join(', ') || 'none'}.</p>`}`,
  );
}

/** Filled in by the script, since a fragment never reaches a server. */
const arrival: Html = html`<span id="arrival"></span>`;
