import { type ComponentType, useEffect, useRef, useState } from 'react';
import type { Language } from '#contract/languages.ts';
import type { Page } from '#contract/page.ts';
import { queryNames } from '#contract/screens.ts';
import { addressInLanguage, type Place, placeOfUrl, withParameter } from './addresses.ts';
import { PageFrame } from './components/page-frame.tsx';
import { useLeavePage } from './leave-page.ts';
import { isLater, type loadLaterScreen } from './load-later-screen.ts';
import { Messages, type SomeTexts, type Texts } from './messages.tsx';
import { type Arrival, settle } from './page-load.ts';
import { nothingSaved, type SavedValues, type SavedValuesStore } from './saved-values.ts';
import { CurrentScreen } from './screens/current-screen.tsx';
import { VisitContext } from './visit.ts';

/** What only the browser has; null on the server. */
export type Browser = {
  store: SavedValuesStore;
  loadTexts: (language: Language) => Promise<Texts>;
  loadLaterScreen: typeof loadLaterScreen;
  /** The address when the script started, once it was settled. */
  startedAt: string;
  /** Loads what other screens will need; a failure is left to them. */
  loadRest: (language: Language) => void;
  /** Called once what the script adds to the server's page is there. */
  onStarted: () => void;
};

type Props = {
  page: Page;
  place: Place;
  /** What the tab has saved, if the first render need not equal the server's. */
  saved?: SavedValues;
  language: Language;
  /** Those of the first screen at least. */
  texts: SomeTexts;
  /** If the page shows one of them. */
  laterScreen: ComponentType | null;
  browser: Browser | null;
};

export function App({
  page,
  place: firstPlace,
  saved: firstSaved = nothingSaved,
  language,
  texts,
  laterScreen,
  browser,
}: Props) {
  const store = browser?.store;
  const [spoken, setSpoken] = useState({ language, texts });
  const [place, setPlace] = useState(firstPlace);
  const [LaterScreen, setLaterScreen] = useState(() => laterScreen);
  // Counts screens shown: one that is left and visited again starts from the beginning.
  const [showing, setShowing] = useState(0);
  const [saved, setSaved] = useState(firstSaved);
  const isRead = useRef(false);
  const [announcement, setAnnouncement] = useState('');
  const moves = useRef(0);
  const typedUsername = useRef(page.typedUsername);
  const { word, leave, comeBack, fadeOver } = useLeavePage();

  // What only the browser knows comes after the first render, which must equal the server's exactly. Most often nothing is
  // saved, and then nothing is rendered again.
  useEffect(() => {
    if (!browser) return;
    const known = isRead.current ? saved : browser.store.read();
    isRead.current = true;
    if (JSON.stringify(known) === JSON.stringify(saved)) browser.onStarted();
    else setSaved(known);
  }, [browser, saved]);

  useEffect(() => {
    document.documentElement.lang = spoken.language;
  }, [spoken]);

  /** What another screen needs: its script, and all texts of the language. */
  async function load(next: Place) {
    if (!browser) return;
    const { language } = spoken;
    const [texts, loaded] = await Promise.all([
      browser.loadTexts(language),
      isLater(next, page) ? browser.loadLaterScreen() : null,
    ]);
    if (loaded) setLaterScreen(() => loaded);
    // The visitor may have changed the language meanwhile.
    setSpoken((now) => (now.language === language ? { language, texts } : now));
  }

  async function show(arrival: Arrival) {
    const move = ++moves.current;
    try {
      await load(arrival.place);
    } catch {
      return location.reload();
    }
    // The visitor may have moved on meanwhile.
    if (move !== moves.current) return;
    setPlace(arrival.place);
    setSaved(arrival.saved);
    showAfresh();
  }

  function onMove() {
    if (!store) return;
    const arrival = settle(location, store, page);
    if (!page.serverPage) show(arrival);
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: once, for an address entered while the script was loading
  useEffect(() => {
    if (browser && location.href !== browser.startedAt) onMove();
  }, []);

  useEffect(() => {
    const onShow = (event: PageTransitionEvent) => {
      if (!event.persisted) return;
      // WebKit keeps even a no-store page that came over plain HTTP, and Chromium one whose session has ended elsewhere.
      if (page.serverPage || page.secondFactor) location.reload();
      else showAfresh();
    };
    addEventListener('popstate', onMove);
    addEventListener('pageshow', onShow);
    return () => {
      removeEventListener('popstate', onMove);
      removeEventListener('pageshow', onShow);
    };
  });

  function showAfresh() {
    setShowing((count) => count + 1);
    comeBack();
  }

  async function goTo(url: string, how: 'push' | 'replace') {
    const move = ++moves.current;
    try {
      await Promise.all([load(placeOfUrl(url, page.rules.basePath)), fadeOver()]);
    } catch {
      return how === 'push' ? location.assign(url) : location.replace(url);
    }
    if (move !== moves.current) return;
    if (how === 'push') history.pushState(null, '', url);
    else history.replaceState(null, '', url);
    if (store) show(settle(location, store, page));
    scrollTo(0, 0);
  }

  async function setLanguage(next: Language) {
    if (!browser) return;
    // Of an invitation only documents have the words.
    const texts = page.invitation ? null : await browser.loadTexts(next).catch(() => null);
    if (!texts) {
      location.search = withParameter(location.search, queryNames.language, next);
      return;
    }
    setSpoken({ language: next, texts });
    setPlace((current) => ({ ...current, search: withParameter(current.search, queryNames.language, next) }));
    history.replaceState(null, '', addressInLanguage(location, next));
  }

  function save(values: Partial<SavedValues>) {
    store?.write({ ...store.read(), ...values });
    setSaved((current) => ({ ...current, ...values }));
  }

  const visit = {
    page,
    place,
    saved,
    typedUsername,
    isLeaving: word !== null,
    leave,
    comeBack,
    goTo,
    prepare: () => browser?.loadRest(spoken.language),
    goToDocument: (url: string) => void fadeOver().then(() => location.assign(url)),
    save,
    // Not from the form, which the browser is about to read.
    forgetWebbundle: () => store?.write({ ...store.read(), redirectOldWebbundleUrl: null }),
    setLanguage,
    announce: setAnnouncement,
  };
  return (
    <Messages {...spoken}>
      <VisitContext value={visit}>
        <PageFrame word={word} announcement={announcement} showing={showing}>
          <CurrentScreen key={showing} LaterScreen={LaterScreen} />
        </PageFrame>
      </VisitContext>
    </Messages>
  );
}
