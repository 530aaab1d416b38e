/** Searches while somebody types: the page of the results is asked for as without a script, and its middle shown. */
const field = document.querySelector<HTMLInputElement>('.find input[type=search]');
const form = field?.form;
let waiting: number | undefined;
let asked: XMLHttpRequest | undefined;
/** Whether the page is that of the search; from any other, going back leads to that one again. */
let isSearch = form ? new URL(form.action).pathname === location.pathname : false;

/** In milliseconds: shorter, and each letter of a word would be asked for. */
const pause = 150;

field?.addEventListener('input', () => {
  clearTimeout(waiting);
  asked?.abort();
  waiting = window.setTimeout(searchNow, pause);
});
// What was replaced is not in the history: the browser asks for it.
addEventListener('popstate', () => location.reload());

function searchNow(): void {
  if (!field || !form || (field.value === '' && !isSearch)) return;
  const url = new URL(form.action);
  for (const [name, value] of new FormData(form)) url.searchParams.set(name, String(value));
  // The browser itself makes a page of the answer, which our policy allows no script to do with a text.
  asked = new XMLHttpRequest();
  asked.open('GET', url);
  asked.responseType = 'document';
  asked.setRequestHeader('accept', 'text/html');
  // Whoever is signed out or offline keeps what is there, and the form itself still searches.
  asked.onload = () => asked?.status === 200 && asked.responseURL === url.href && show(asked.responseXML, url);
  asked.send();
}

function show(page: Document | null, url: URL): void {
  const found = page?.querySelector('main');
  if (!page || !found) return;
  document.querySelector('main')?.replaceWith(found);
  document.title = page.title;
  document.querySelector('.bar [aria-current]')?.removeAttribute('aria-current');
  if (isSearch) history.replaceState(null, '', url);
  else history.pushState(null, '', url);
  isSearch = true;
  const status = document.querySelector('.desk > [role=status]');
  if (status) status.textContent = found.querySelector('.found')?.textContent ?? '';
  document.dispatchEvent(new Event('found'));
}
