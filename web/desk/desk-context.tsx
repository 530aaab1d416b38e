import { createContext, use } from 'react';
import { type DeskPage, deskUrl } from '#contract/desk.ts';
import { type Query, queryNames } from '#contract/screens.ts';
import { useBehind } from '../account/account-context.tsx';
import { useApp } from '../app-context.ts';

export const DeskContext = createContext(null as unknown as DeskPage);

/** The page of the desk, its texts, and the addresses of its pages. */
export function useDesk() {
  const { page, askedLanguage } = useApp();
  return {
    ...use(DeskContext),
    text: useBehind().text,
    /** By the path below `/desk`; the language is not lost. */
    toDesk: (path: string, query: Query = {}) =>
      deskUrl(page.rules.basePath, path, { ...query, [queryNames.language]: askedLanguage }),
  };
}
