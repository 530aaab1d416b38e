import { createContext, use } from 'react';
import { type DeskPage, deskPath, deskUrl } from '#contract/desk.ts';
import { type Query, queryNames } from '#contract/screens.ts';
import { useBehind } from '../account/account-context.tsx';
import { useApp } from '../app-context.ts';

export const DeskContext = createContext<DeskPage | null>(null);

/** The page of the desk, its texts, and the addresses of its pages. */
export function useDesk() {
  const desk = use(DeskContext);
  if (!desk) throw new Error('The desk is missing around this component');
  const { page, askedLanguage } = useApp();
  return {
    ...desk,
    text: useBehind().text,
    /** By the path below `/desk`; the language is not lost. */
    toDesk: (path: string, query: Query = {}) =>
      deskUrl(page.rules.basePath, path, { ...query, [queryNames.language]: askedLanguage }),
    /** Of another file than a page. */
    basePath: page.rules.basePath + deskPath,
  };
}
