import type { Page, Turns } from '#contract/page.ts';
import { queryNames } from '#contract/screens.ts';
import { addressWithout } from './query.ts';
import type { SavedValuesStore } from './saved-values.ts';
import { savedAfter } from './turns.ts';

/** `storage`: a page in another tab learned of a turn. The others: this one was asleep, or shows an earlier state. */
const moments = ['storage', 'popstate', 'pageshow'];

const earlierPersons = [queryNames.destination, queryNames.redirectUrl, queryNames.login];

/**
 * Discards what an earlier turn saved in this tab, now and as long as the page is open; a reload discards what the page
 * itself shows. A page that answers another site's post comes without cookies and so without marks, and an expired
 * cookie leaves out its own mark. If a page lacks a mark, the other tabs' value counts, then the last one of this tab:
 * a known mark is never forgotten. An entry of the history keeps the sign-out that it was opened after: Back to one of an
 * earlier turn loads its page as for a new person. So does Back to a page that the browser kept in memory, if others of its
 * tab have taken a turn meanwhile.
 *
 * @returns whether the page reloads. Nothing else may start then: it would save or load what is an earlier person's.
 */
export function takeTurns({ turns, resetHash }: Page, store: SavedValuesStore): boolean {
  let knownToTab = '';
  const take = (now?: Turns) => {
    const before = store.readTurns();
    const wasKept = JSON.stringify(before) !== knownToTab;
    const newestFirst = [now, store.readSharedTurns(), before];
    const markOf = (name: keyof Turns) => newestFirst.map((turns) => turns?.[name]).find(Boolean) ?? null;
    const turns = { signedIn: markOf('signedIn'), signedOut: markOf('signedOut') };
    const saved = store.read();
    store.write(savedAfter(turns, before, saved));
    store.writeTurns(turns);
    knownToTab = JSON.stringify(turns);
    return wasKept || (turns.signedIn !== before?.signedIn && Boolean(saved.passwordHashParameter ?? resetHash));
  };
  take(turns);
  let known = JSON.stringify(store.readSharedTurns());
  const look = () => {
    const before = known;
    known = JSON.stringify(store.readSharedTurns());
    const isOver = (known !== before && take()) || !isEntryOfTurn(store);
    if (isOver) startAfresh();
    return isOver;
  };
  for (const moment of moments) addEventListener(moment, look);
  // As a page is left by Back, WebKit already has the entry that it leads to: that one's own page looks at it.
  addEventListener('visibilitychange', () => document.hidden || look());
  return look();
}

/** Whether the entry of the history was opened in this turn; a new one is marked so. */
function isEntryOfTurn(store: SavedValuesStore): boolean {
  const after = store.readTurns()?.signedOut;
  if (!history.state) history.replaceState({ signedOut: after }, '');
  return history.state.signedOut === after;
}

/** Loads the page as for a new person: the addresses of some pages say where they lead, and who was there. */
function startAfresh(): void {
  const { pathname, search, hash } = addressWithout(location, earlierPersons);
  history.replaceState(null, '', pathname + search + hash);
  location.reload();
}
