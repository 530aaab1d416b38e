/** Searches while somebody types: the page of the results is asked for as without a script, and its middle shown. */
const field = document.querySelector<HTMLInputElement>('.find input[type=search]');
/** Whether the page is that of the search; from any other, going back leads to that one again. */
let isSearch = new URL(field?.form?.action ?? '', location.href).pathname === location.pathname;
let waiting: number | undefined;
let asked = new XMLHttpRequest();

field?.addEventListener('input', () => {
  clearTimeout(waiting);
  asked.abort();
  // In milliseconds: shorter, and each letter of a word would be asked for.
  waiting = window.setTimeout(searchNow, 150);
});
// What was replaced is not in the history: the browser asks for it.
addEventListener('popstate', () => location.reload());

function searchNow(): void {
  if (!field?.form || (field.value === '' && !isSearch)) return;
  const url = new URL(field.form.action);
  for (const [name, value] of new FormData(field.form)) url.searchParams.set(name, String(value));
  // The browser itself makes a page of the answer, which our policy allows no script to do with a text.
  asked = new XMLHttpRequest();
  asked.open('GET', url);
  asked.responseType = 'document';
  asked.setRequestHeader('accept', 'text/html');
  // Whoever is signed out or offline keeps what is there, and the form itself still searches.
  asked.onload = () => asked.status === 200 && asked.responseURL === url.href && show(asked.responseXML, url);
  asked.send();
}

function show(page: Document | null, url: URL): void {
  const found = page?.querySelector('main');
  if (!page || !found) return;
  document.querySelector('main')?.replaceWith(found);
  document.title = page.title;
  document.querySelector('.bar [aria-current]')?.removeAttribute('aria-current');
  history[isSearch ? 'replaceState' : 'pushState'](null, '', url);
  isSearch = true;
  const status = document.querySelector('.desk > [role=status]');
  if (status) status.textContent = found.querySelector('.found')?.textContent ?? '';
  document.dispatchEvent(new Event('found'));
}
