import { createContext, use } from 'react';
import { type Call, callUrl } from '#contract/calls.ts';
import type { Language } from '#contract/languages.ts';
import { noticeOfSearch } from '#contract/notices.ts';
import type { Page, PageScreen } from '#contract/page.ts';
import { type PlainScreen, type Query, queryNames, type Screen, screenUrl, withQuery } from '#contract/screens.ts';
import { type Place, parameterOf, screenAt } from './addresses.ts';
import { filled, type MessageKey, type Placeholders, type Texts } from './messages.ts';
import type { SavedValues } from './saved-values.ts';

/** What every screen and part can read and do. On the server the actions are no-ops. */
export type AppState = ReturnType<typeof shownAt> & {
  saved: SavedValues;
  language: Language;
  /** The name typed on any form, kept for the next one. */
  typedUsername: { current: string };
  isLeaving: boolean;
  /** Starts leaving: fade, then the veil with this text. False if already leaving, so a second press does nothing. */
  leave: (word: MessageKey) => boolean;
  comeBack: () => void;
  /** Changes the screen once the fade is over. */
  goTo: (url: string, history: 'push' | 'replace') => void;
  /** Loads the document of a link once the fade is over. What an answer leads to waits for no fade. */
  goToDocument: (url: string) => void;
  save: (values: Partial<SavedValues>) => void;
  /** Forgets the old web-bundle address, once a sign-in form carries it: the next sign-in in this tab leads elsewhere. */
  forgetWebbundle: () => void;
  setLanguage: (language: Language) => void;
  announce: (text: string) => void;
};

export const AppContext = createContext(null as unknown as AppState);

export const useApp = () => use(AppContext);

/** Query parameters kept throughout the portal, so that language, name and destination are not lost. */
const carriedNames = [queryNames.language, queryNames.login, queryNames.destination] as const;

/** What is shown at a place, with its texts, and the addresses for links on it. */
export function shownAt(page: Page, place: Place, texts: Texts) {
  const { basePath } = page.rules;
  const screen: PageScreen = screenAt(page, place);
  const carried = Object.fromEntries(carriedNames.map((name) => [name, parameterOf(place.search, name) ?? undefined]));
  const { lang: askedLanguage } = carried;
  return {
    page,
    place,
    screen,
    /** What the server knows of the session behind a second-factor screen; undefined on all others. */
    secondFactor: 'secondFactor' in screen ? screen.secondFactor : undefined,
    /** The text of a key in the current language, with its `{placeholders}` filled. */
    message: (key: MessageKey, placeholders: Placeholders = {}) => filled(texts[key], placeholders),
    /** What the address says by a parameter, or null. */
    asked: (name: keyof typeof queryNames) => parameterOf(place.search, queryNames[name]),
    notice: noticeOfSearch(place.search),
    askedLanguage,
    /** The address of a screen. What is carried stays unless `query` says otherwise. */
    toScreen(to: PlainScreen | Screen, query: Query = {}): string {
      const said = Object.entries(query).filter(([, value]) => value !== undefined);
      return screenUrl(basePath, to, { ...carried, ...Object.fromEntries(said) });
    },
    toCall: (call: Call, query: Query = {}) =>
      withQuery(callUrl(basePath, call), { lang: askedLanguage, ...(!page.isStatic && query) }),
  };
}
