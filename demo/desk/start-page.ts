import { type Case, type CaseGroup, visitor } from '../cases.ts';
import type { Account } from '../fill-portal.ts';
import { type Html, html } from '../html.ts';
import { copyMark } from './copy-mark.ts';
import { deskPage } from './desk-page.ts';

export type StartPage = {
  groups: readonly CaseGroup[];
  accounts: readonly Account[];
  providers: { oidc: string; saml: string };
  portal: string;
  mailCount: number;
};

/** Everything that can be tried, in the order in which a newcomer should. */
export function startPage({ groups, accounts, providers, portal, mailCount }: StartPage): Html {
  return deskPage(
    '/',
    mailCount,
    'Start',
    html`<h1>Try the front door</h1>
<p class="lede">Vestibule is the sign-in of a business hub. Here it runs for real on this machine, for a company named Quayside, with
users, emails, identity providers and a sample hub. All of them are made up, and gone when you end the demo.</p>
<ol class="how">
<li><b>Open a case.</b> It begins signed out in a new tab, and copies the password where there is one.</li>
<li><b>Paste and go on.</b> Codes and links arrive in the <a href="/inbox">inbox</a> and the <a href="/authenticator">authenticator</a>.</li>
<li><b>Come back</b> for the next. Any order will do, one at a time.</li>
</ol>
<nav class="jump" aria-label="Cases">${groups.map(({ id, title }) => html`<a href="#${id}">${title}</a>`)}<a href="#around">Look around</a></nav>
${groups.map(
  ({ id, title, cases }) =>
    html`<section id="${id}"><h2>${title}</h2><div class="cases">${cases.map((one) => card(one, accounts))}</div></section>`,
)}
<section id="around"><h2>Look around</h2><ul class="around">
<li><a href="/open/${visitor.id}" target="_blank">The portal</a> as a visitor first sees it, in the language of your browser</li>
<li><a href="${providers.oidc}">The OpenID provider</a> and <a href="${providers.saml}">the SAML provider</a>, where faults are switched</li>
<li><a href="${portal}/logout">A link that signs you out</a> from another site: the portal asks first</li>
<li>Legal notice, support and tagline lead nowhere: the company does not exist</li>
</ul></section>`,
  );
}

function card({ id, title, text, username, path, next }: Case, accounts: readonly Account[]): Html {
  const account = accounts.find((one) => one.username === username);
  // Elsewhere it is not asked for.
  const password = /^\/(?:portal\/login|hub\/)/.test(path) ? (account?.password ?? null) : null;
  return html`<article class="case" id="case-${id}"><h3>${title}</h3><p>${text}</p>
${account !== undefined && html`<dl>${row('Name', path.includes('%40') ? account.email : account.username)}${password !== null && row('Password', password)}</dl>`}
<p class="go"><a class="button" href="/open/${id}" target="_blank"${password !== null && html` data-password="${password}"`}>Open<span class="sr">: ${title}</span></a>
${next !== undefined && html`<a href="/${next}">${next === 'inbox' ? 'Inbox' : 'Authenticator'}</a>`}</p></article>`;
}

function row(name: string, value: string): Html {
  return html`<dt class="sr">${name}</dt><dd><code>${value}</code><button type="button" class="copy" data-copy="${value}" aria-label="Copy ${value}" title="Copy">${copyMark}</button></dd>`;
}
