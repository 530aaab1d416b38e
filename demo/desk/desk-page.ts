import { type Html, html } from '../html.ts';

const places = [
  { path: '/', name: 'Start' },
  { path: '/inbox', name: 'Inbox' },
  { path: '/authenticator', name: 'Authenticator' },
] as const;

/** The frame of the start page, the mails and the authenticator. */
export function deskPage(path: (typeof places)[number]['path'], mailCount: number, title: string, content: Html): Html {
  return html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title} · Vestibule demo</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/look.css">
<script src="/desk.js" defer></script>
<body class="desk">
<a class="skip" href="#main">Skip to the content</a>
<header class="bar"><a class="logo" href="/">${mark}<span>Vestibule <i>demo</i></span></a>
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

const mark: Html = html`<svg viewBox="0 0 26 30" width="26" height="30" fill="currentColor" aria-hidden="true"><path fill-rule="evenodd" d="M1 30V13a12 12 0 0 1 24 0v17zm9 0h11V15.5a5.5 5.5 0 0 0-11 0z"/></svg>`;
