import { arch, type Html, headOf, html } from '../html.ts';

const places = [
  { path: '/', name: 'Start' },
  { path: '/inbox', name: 'Inbox' },
  { path: '/authenticator', name: 'Authenticator' },
] as const;

/** The frame of the start page, the mails and the authenticator. */
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
