import { type Html, html } from '../html.ts';
import type { AppCode } from './app-keys.ts';
import { copyMark } from './copy-mark.ts';
import { deskPage } from './desk-page.ts';

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
