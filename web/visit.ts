import { createContext, use } from 'react';
import type { Language } from '#contract/languages.ts';
import type { Page } from '#contract/page.ts';
import type { MessageKey } from './messages.tsx';
import type { Place } from './place.ts';
import type { SavedValues } from './saved-values.ts';

/** What every screen and part can read and do. On the server the actions are no-ops. */
export type Visit = {
  page: Page;
  place: Place;
  saved: SavedValues;
  /** The name typed on any form, kept for the next one. */
  typedUsername: { current: string };
  isLeaving: boolean;
  /** Starts leaving: fade, then the veil with this text. False if already leaving, so a second press does nothing. */
  leave: (word: MessageKey) => boolean;
  /** Shows the page again if leaving led nowhere. */
  comeBack: () => void;
  /** Changes the screen once the fade is over. */
  goTo: (url: string, history: 'push' | 'replace') => void;
  /** Loads what another screen will need, before it is asked for. */
  prepare: () => void;
  /** Loads the document of a link once the fade is over. What an answer leads to waits for no fade. */
  goToDocument: (url: string) => void;
  save: (values: Partial<SavedValues>) => void;
  /** Forgets the old web-bundle address, once a sign-in form carries it: the next sign-in in this tab leads elsewhere. */
  forgetWebbundle: () => void;
  setLanguage: (language: Language) => void;
  /** Announces text to screen readers. */
  announce: (text: string) => void;
};

export const VisitContext = createContext<Visit | null>(null);

export function useVisit(): Visit {
  const visit = use(VisitContext);
  if (!visit) throw new Error('A visit is missing around this component');
  return visit;
}
