import type { Page, Turns } from '#contract/page.ts';
import { queryNames } from '#contract/screens.ts';
import { addressWithout } from './query.ts';
import type { SavedValuesStore } from './saved-values.ts';
import { savedAfter } from './turns.ts';

/** `storage`: a page in another tab learned of a turn. The others: this one was asleep, or shows an earlier state. */
const moments = ['storage', 'popstate', 'pageshow', 'visibilitychange'];

const earlierPersons = [queryNames.destination, queryNames.redirectUrl, queryNames.login];

/**
 * Discards what an earlier turn saved in this tab, now and as long as the page is open; a reload discards what the page
 * itself shows. A page that answers another site's post comes without cookies and so without marks, and an expired
 * cookie leaves out its own mark. If a page lacks a mark, the other tabs' value counts, then the last one of this tab:
 * a known mark is never forgotten. An entry of the history keeps the sign-out that it was opened after: Back to one of an
 * earlier turn loads its page as for a new person.
 */
export function takeTurns({ turns, resetHash }: Page, store: SavedValuesStore): void {
  const take = (now?: Turns) => {
    const before = store.readTurns();
    const newestFirst = [now, store.readSharedTurns(), before];
    const markOf = (name: keyof Turns) => newestFirst.map((turns) => turns?.[name]).find(Boolean) ?? null;
    const turns = { signedIn: markOf('signedIn'), signedOut: markOf('signedOut') };
    const saved = store.read();
    store.write(savedAfter(turns, before, saved));
    store.writeTurns(turns);
    return (
      turns.signedOut !== before?.signedOut ||
      (turns.signedIn !== before.signedIn && (saved.passwordHashParameter ?? resetHash))
    );
  };
  take(turns);
  let known = JSON.stringify(store.readSharedTurns());
  for (const moment of moments)
    addEventListener(moment, () => {
      const now = JSON.stringify(store.readSharedTurns());
      if (now === known) return;
      known = now;
      if (take()) startAfresh();
    });
  const after = store.readTurns()?.signedOut;
  const entry = history.state as Partial<Turns> | null;
  if (!entry) history.replaceState({ signedOut: after }, '');
  else if (entry.signedOut !== after) startAfresh();
}

/** Loads the page as for a new person: the addresses of some pages say where they lead, and who was there. */
function startAfresh(): void {
  const { pathname, search, hash } = addressWithout(location, earlierPersons);
  history.replaceState(null, '', pathname + search + hash);
  location.reload();
}
