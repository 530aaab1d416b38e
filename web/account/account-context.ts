import { createContext, use } from 'react';
import { type AccountSection, accountFields, accountUrl } from '#contract/account.ts';
import type { AccountPage } from '#contract/account-page.ts';
import { queryNames } from '#contract/screens.ts';
import { parameterOf } from '../query.ts';
import { useVisit } from '../visit.ts';

export const AccountContext = createContext<AccountPage | null>(null);

export function useAccount(): AccountPage {
  const account = use(AccountContext);
  if (!account) throw new Error('An account is missing around this component');
  return account;
}

/** Addresses of sections, for links and forms on this page: the language is not lost. `kept`: fields of what is begun. */
export function useSectionUrl(): (section: AccountSection, begun?: string, kept?: AccountPage['kept']) => string {
  const { page, place } = useVisit();
  const language = parameterOf(place.search, queryNames.language) ?? undefined;
  return (section, begun, kept) =>
    accountUrl(page.rules.basePath, section, {
      [accountFields.action]: begun,
      ...kept,
      [queryNames.language]: language,
    });
}
