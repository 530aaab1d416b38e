import { createContext, use } from 'react';
import type { AccountPage } from '#contract/account.ts';
import { type AccountSection, accountFields, accountUrl } from '#contract/account.ts';
import type { Page } from '#contract/page.ts';
import { queryNames } from '#contract/screens.ts';
import { parameterOf, placeOfUrl } from '../addresses.ts';
import type { AllTexts } from '../all-texts.ts';
import { type AppState, useApp, useMessage } from '../app-context.ts';
import type { Placeholders, Texts } from '../messages.ts';
import { nothingSaved } from '../saved-values.ts';

export const AccountContext = createContext<AccountPage | null>(null);

export function useAccount(): AccountPage {
  const account = use(AccountContext);
  if (!account) throw new Error('An account is missing around this component');
  return account;
}

/** Addresses of sections, for links and forms on this page: the language is not lost. `kept`: fields of what is begun. */
export function useSectionUrl(): (section: AccountSection, begun?: string, kept?: AccountPage['kept']) => string {
  const { page, place } = useApp();
  const language = parameterOf(place.search, queryNames.language) ?? undefined;
  return (section, begun, kept) =>
    accountUrl(page.rules.basePath, section, {
      [accountFields.action]: begun,
      ...kept,
      [queryNames.language]: language,
    });
}

/** Every text but those of emails: on the account page the server alone renders. */
export type AccountKey = keyof AllTexts;

/** The text of a key in the language of the page, with its `{placeholders}` filled. Here the app has all of them. */
export function useAccountText(): (key: AccountKey, placeholders?: Placeholders) => string {
  return useMessage() as (key: AccountKey, placeholders?: Placeholders) => string;
}

/** The heading of each section, which is also its name in the overview. */
export const sectionTitle: Record<AccountSection, AccountKey> = {
  overview: 'account-title',
  password: 'account-password-title',
  passkeys: 'account-passkeys-title',
  app: 'account-app-title',
  recoveryCodes: 'account-recovery-codes-title',
  devices: 'account-devices-title',
  sessions: 'account-sessions-title',
  signIns: 'account-sign-ins-title',
};

/** What parts shared with the other screens read; nothing moves on the account page. */
export function stillApp(page: Page, texts: Texts): AppState {
  const nothing = () => {};
  return {
    page,
    place: placeOfUrl(page.url, page.rules.basePath),
    screen: page.screen,
    saved: nothingSaved,
    language: page.language,
    texts,
    typedUsername: { current: '' },
    isLeaving: false,
    leave: () => false,
    comeBack: nothing,
    goTo: nothing,
    goToDocument: nothing,
    save: nothing,
    forgetWebbundle: nothing,
    setLanguage: nothing,
    announce: nothing,
  };
}
