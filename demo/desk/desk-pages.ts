import { type Case, type CaseGroup, visitor } from '../cases.ts';
import type { Account } from '../fill-portal.ts';
import { arch, copyMark, type Html, headOf, html } from '../html.ts';
import type { AppCode } from './app-keys.ts';
import type { ShownMail } from './read-mails.ts';

const places = [
  { path: '/', name: 'Start' },
  { path: '/inbox', name: 'Inbox' },
  { path: '/authenticator', name: 'Authenticator' },
  { path: '/explain', name: 'Support' },
  { path: '/brand', name: 'Brand' },
] as const;

/** The frame of the demo's own pages. */
export function deskPage(path: (typeof places)[number]['path'], mailCount: number, title: string, content: Html): Html {
  return html`${headOf(title, 'Vestibule demo', '/look.css')}
<script src="/desk.js" defer></script>
<body class="desk">
<a class="skip" href="#main">Skip to the content</a>
<header class="bar"><a class="logo" href="/">${arch}<span>Vestibule <i>demo</i></span></a>
<nav aria-label="Demo">${places.map(
    (place) =>
      html`<a href="${place.path}"${place.path === path && html` aria-current="page"`}>${place.name}${
        place.path === '/inbox' && html` <b data-mail-count>${mailCount || ''}</b>`
      }</a>`,
  )}</nav></header>
<main id="main">${content}</main>
<p class="sr" role="status"></p>
</body>
</html>`;
}

type StartPage = {
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
<li><b>Come back</b> for the next. Any order will do, one at a time. Whatever fails has a reference, which <a href="/explain">support</a> can explain.</li>
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

function card(
  { id, title, text, username, recoveryCode, reference, path, next }: Case,
  accounts: readonly Account[],
): Html {
  const account = accounts.find((one) => one.username === username);
  // Elsewhere it is not asked for.
  const password = /^\/(?:portal\/(?:login|account)|hub\/)/.test(path) ? (account?.password ?? null) : null;
  return html`<article class="case" id="case-${id}"><h3>${title}</h3><p>${text}</p>
${account !== undefined && html`<dl>${row('Name', path.includes('%40') ? account.email : account.username)}${password !== null && row('Password', password)}${recoveryCode !== undefined && row('Recovery code', recoveryCode)}${reference !== undefined && row('Reference', reference)}</dl>`}
<p class="go"><a class="button" href="/open/${id}" target="_blank"${password !== null && html` data-password="${password}"`}>Open<span class="sr">: ${title}</span></a>
${next !== undefined && html`<a href="/${next}">${places.find((place) => place.path === `/${next}`)?.name ?? ''}</a>`}</p></article>`;
}

function row(name: string, value: string): Html {
  return html`<dt class="sr">${name}</dt><dd><code>${value}</code><button type="button" class="copy" data-copy="${value}" aria-label="Copy ${value}" title="Copy">${copyMark}</button></dd>`;
}

/** All mails, newest first. */
export function mailsPage(mails: readonly ShownMail[]): Html {
  return deskPage(
    '/inbox',
    mails.length,
    'Inbox',
    html`<h1>Inbox</h1>
<p class="lede">Every email that the portal sends, to whomever. None leaves this machine.</p>
${mails.length === 0 && html`<p class="empty" data-no-mails>Nothing yet. Ask for a <a href="/#case-reset">forgotten password</a> or sign in with a <a href="/#case-email">code by email</a>.</p>`}
<noscript><p class="lede"><a href="/inbox">Look again</a> for new ones: without JavaScript they do not come by themselves.</p></noscript>
<div data-mails>${mails.map((mail, index) => mailRow(mail, index === 0))}</div>`,
  );
}

/** One mail, as markup of its own: the script adds it to the page when it arrives. */
export function mailRow({ id, to, subject, at, text }: ShownMail, isOpen: boolean): Html {
  return html`<details class="mail" id="${id}"${isOpen && html` open`}><summary><h2>${subject}</h2>
<span class="note">To <b>${to}</b> · <time datetime="${at.toISOString()}">${at.toTimeString().slice(0, 8)}</time></span></summary>
<iframe sandbox="allow-popups allow-popups-to-escape-sandbox" src="/inbox/${id}" loading="lazy" title="${subject}"></iframe>
<details><summary>Text part</summary><pre>${linked(text)}</pre></details></details>`;
}

/** The text with its addresses as links. */
function linked(text: string): Html[] {
  return text
    .split(/(https?:\/\/[^\s<>]+)/)
    .map((part, index) => (index % 2 === 1 ? html`<a href="${part}" target="_blank">${part}</a>` : html`${part}`));
}

/** The codes of every account with an app, and how long each is shown. */
export function authenticatorPage(codes: readonly AppCode[], mailCount: number): Html {
  return deskPage(
    '/authenticator',
    mailCount,
    'Authenticator',
    html`<h1>Authenticator</h1>
<p class="lede">The phone app of this demo. It knows every key by itself, also one that is being set up in this browser right now; each code works once.</p>
<div class="apps" data-codes>${codes.map(
      ({
        id,
        username,
        isNew,
        code,
        left,
        isUsed,
      }) => html`<article class="${isUsed ? 'app used' : 'app'}" data-account="${id}">
<h2>${username}${isNew && html` <small>being set up</small>`}</h2>
<p class="code">${grouped(code)}</p>
<p class="note"><meter min="0" max="30" value="${left}"></meter> <span class="left">${isUsed ? `used · next in ${left} s` : `${left} s left`}</span></p>
<button type="button" class="copy" data-copy="${code}" aria-label="Copy the code of ${username}" title="Copy">${copyMark}</button></article>`,
    )}</div>
<p class="after">Somebody missing? Begin with <a href="/#case-app-new">Set up an app</a>.</p>
<noscript><p class="lede"><a href="/authenticator">Look again</a> for the next code.</p></noscript>`,
  );
}

/** As apps show it: two groups of three. */
export function grouped(code: string): string {
  return `${code.slice(0, 3)} ${code.slice(3)}`;
}
