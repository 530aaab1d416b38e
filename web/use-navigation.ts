import { startTransition, useEffect, useRef, useState } from 'react';
import { hasAddress, type Page } from '#contract/page.ts';
import { type Place, placeOfUrl, withParameter } from './addresses.ts';
import { settle } from './page-load.ts';
import { nothingSaved, type SavedValues, type SavedValuesStore } from './saved-values.ts';
import { isLater, loadLaterScreen } from './screens/current-screen.tsx';

export type Start = {
  page: Page;
  place: Place;
  /** What the tab has saved, if the first render need not equal the server's. */
  saved?: SavedValues;
  /** What only the browser has; null on the server. */
  browser: {
    store: SavedValuesStore;
    /** The address when the script started, once it was settled. */
    startedAt: string;
  } | null;
};

/**
 * Where the visitor is, and how they get elsewhere without another document; `showing` counts the screens shown, so that one
 * that is left and opened again starts from the beginning. `leaving`: the fade before it, and the end of it.
 */
export function useNavigation(first: Start, leaving: { fadeOver: () => Promise<void>; comeBack: () => void }) {
  const { page, browser } = first;
  const store = browser?.store;
  const [place, setPlace] = useState(first.place);
  const [saved, setSaved] = useState(first.saved ?? nothingSaved);
  const [showing, setShowing] = useState(0);
  const moves = useRef(0);

  // What only the browser knows comes after the first render, which must equal the server's exactly. Most often nothing is
  // saved, and then nothing is rendered again.
  useEffect(() => {
    const known = store?.read();
    if (known && JSON.stringify(known) !== JSON.stringify(saved)) setSaved(known);
  }, [store, saved]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: once, for an address entered while the script was loading
  useEffect(() => {
    if (browser && location.href !== browser.startedAt) onMove();
  }, []);

  useEffect(() => {
    const onShow = (event: PageTransitionEvent) => {
      if (!event.persisted) return;
      // WebKit keeps even a no-store page that came over plain HTTP, and Chromium one whose session has ended elsewhere.
      if (!hasAddress(page.screen) || 'secondFactor' in page.screen) location.reload();
      else showAgain();
    };
    addEventListener('popstate', onMove);
    addEventListener('pageshow', onShow);
    return () => {
      removeEventListener('popstate', onMove);
      removeEventListener('pageshow', onShow);
    };
  });

  function showAgain(): void {
    setShowing((count) => count + 1);
    leaving.comeBack();
  }

  /** The browser has moved already. */
  async function onMove(): Promise<void> {
    if (!store) return;
    const arrival = settle(location, store, page);
    if (!hasAddress(page.screen)) return;
    const move = ++moves.current;
    if (isLater(arrival.place.screen) && !(await loadLaterScreen().catch(() => null))) return location.reload();
    // The visitor may have moved on meanwhile.
    if (move !== moves.current) return;
    startTransition(() => {
      setPlace(arrival.place);
      setSaved(arrival.saved);
      showAgain();
    });
  }

  async function goTo(url: string, how: 'push' | 'replace'): Promise<void> {
    const move = ++moves.current;
    const next = placeOfUrl(url, page.rules.basePath);
    try {
      await Promise.all([isLater(next.screen) && loadLaterScreen(), leaving.fadeOver()]);
    } catch {
      return how === 'push' ? location.assign(url) : location.replace(url);
    }
    if (move !== moves.current) return;
    if (how === 'push') history.pushState(null, '', url);
    else history.replaceState(null, '', url);
    await onMove();
    scrollTo(0, 0);
  }

  /** Sets a parameter of the place alone; the address is the caller's. */
  function setParameter(name: string, value: string): void {
    setPlace((current) => ({ ...current, search: withParameter(current.search, name, value) }));
  }

  function save(values: Partial<SavedValues>): void {
    store?.write({ ...store.read(), ...values });
    setSaved((current) => ({ ...current, ...values }));
  }

  return {
    place,
    saved,
    showing,
    goTo,
    goToDocument: (url: string) => void leaving.fadeOver().then(() => location.assign(url)),
    setParameter,
    save,
    // Not from the form, which the browser is about to read.
    forgetWebbundle: () => store?.write({ ...store.read(), redirectOldWebbundleUrl: null }),
  };
}
