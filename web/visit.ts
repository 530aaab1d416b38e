import { createContext, use } from 'react';
import type { Language } from '#contract/languages.ts';
import type { Page } from '#contract/page.ts';
import type { MessageKey } from './messages.tsx';
import type { Place } from './place.ts';
import type { SavedValues } from './saved-values.ts';

/** What every screen and part may know and do. On the server the doings do nothing. */
export type Visit = {
  page: Page;
  place: Place;
  saved: SavedValues;
  /** False on the server and until the script has taken over: what only script can do waits for it. */
  isScripted: boolean;
  /** The name typed on any form, kept for the next one. */
  typedUsername: { current: string };
  isLeaving: boolean;
  /** Starts the way out: fade, then the veil with this word. False when already on it, so a second press does nothing. */
  leave: (word: MessageKey) => boolean;
  /** Shows the page again after a way out that led nowhere. */
  comeBack: () => void;
  /** Changes the screen once the fade is over. */
  goTo: (url: string, history: 'push' | 'replace') => void;
  /** Loads another document once the fade is over. */
  goToDocument: (url: string) => void;
  /** Loads this document anew once the fade is over. */
  reload: () => void;
  save: (values: Partial<SavedValues>) => void;
  setLanguage: (language: Language) => void;
  /** Says a word to screen readers. */
  announce: (text: string) => void;
};

export const VisitContext = createContext<Visit | null>(null);

export function useVisit(): Visit {
  const visit = use(VisitContext);
  if (!visit) throw new Error('A visit is missing around this component');
  return visit;
}
