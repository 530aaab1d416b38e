/** Searches while somebody types: the page of the results is asked for as without a script, and its middle shown. */
const field = document.querySelector<HTMLInputElement>('.find input');
const form = field?.form;
let waiting: number | undefined;
let asked = 0;

/** In milliseconds: shorter, and each letter of a word would be asked for. */
const pause = 150;

field?.addEventListener('input', () => {
  clearTimeout(waiting);
  waiting = window.setTimeout(searchNow, pause);
});

async function searchNow(): Promise<void> {
  if (!field || !form) return;
  asked += 1;
  const mine = asked;
  const url = new URL(form.action);
  url.searchParams.set('q', field.value);
  const answer = await fetch(url, { headers: { accept: 'text/html' } }).catch(() => null);
  // Somebody has typed on, or is signed out: the form itself still searches.
  if (!answer?.ok || mine !== asked) return;
  const found = new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('main');
  if (!found) return;
  document.querySelector('main')?.replaceWith(found);
  history.replaceState(null, '', url);
}
