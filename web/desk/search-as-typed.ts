/** Searches while somebody types: the page of the results is asked for as without a script, and its middle shown. */
const field = document.querySelector<HTMLInputElement>('.find input[type=search]');
const form = field?.form;
let waiting: number | undefined;
let asked = new AbortController();
/** Whether the page is that of the search; from any other, going back leads to that one again. */
let isSearch = new URL(location.href).pathname === (form && new URL(form.action).pathname);

/** In milliseconds: shorter, and each letter of a word would be asked for. */
const pause = 150;

field?.addEventListener('input', () => {
  clearTimeout(waiting);
  asked.abort();
  waiting = window.setTimeout(searchNow, pause);
});
// What was replaced is not in the history: the browser asks for it.
addEventListener('popstate', () => location.reload());

async function searchNow(): Promise<void> {
  if (!field || !form || (field.value === '' && !isSearch)) return;
  asked = new AbortController();
  const url = new URL(form.action);
  url.search = String(new URLSearchParams([...new FormData(form)].map(([name, value]) => [name, String(value)])));
  // Somebody types on, is signed out, or offline: what is there stays, and the form itself still searches.
  const answer = await fetch(url, { signal: asked.signal }).catch(() => null);
  const text = answer?.ok && !answer.redirected ? await answer.text().catch(() => null) : null;
  const page = text === null ? null : new DOMParser().parseFromString(text, 'text/html');
  const found = page?.querySelector('main');
  if (!page || !found || asked.signal.aborted) return;
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
