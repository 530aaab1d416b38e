import { type Html, html } from '../html.ts';
import { deskPage } from './desk-page.ts';
import type { ShownMail } from './read-mails.ts';

/** All mails, newest first. */
export function mailsPage(mails: readonly ShownMail[]): Html {
  return deskPage(
    '/inbox',
    mails.length,
    'Inbox',
    html`<h1>Inbox</h1>
<p class="lede">Every email that the portal sends, to whomever. None leaves this machine.</p>
${mails.length === 0 && html`<p class="empty" data-no-mails>Nothing yet. Ask for a <a href="/open/reset">forgotten password</a> or sign in with a <a href="/open/email">code by email</a>.</p>`}
<div data-mails>${mails.map((mail, index) => mailRow(mail, index === 0))}</div>
<noscript><p class="lede"><a href="/inbox">Look again</a> for new ones: without JavaScript they do not come by themselves.</p></noscript>`,
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
