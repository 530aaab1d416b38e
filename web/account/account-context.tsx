import { createContext, use } from 'react';
import {
  type AccountPage,
  type AccountSection,
  accountFields,
  accountSections,
  accountUrl,
} from '#contract/account.ts';
import type { Page } from '#contract/page.ts';
import { queryNames } from '#contract/screens.ts';
import { placeOfUrl } from '../addresses.ts';
import type { AllTexts } from '../all-texts.ts';
import { type AppState, shownAt, useApp } from '../app-context.ts';
import { filled, type Placeholders, type Texts } from '../messages.ts';
import { nothingSaved } from '../saved-values.ts';

/** What the account page and the desk have in common: whose session the page belongs to, and what was begun on it. */
export type Behind = Pick<AccountPage, 'username' | 'sessionId' | 'begun' | 'kept'> & {
  /** The address of the page, and the same with what was begun. */
  here: string;
  comesBackTo: string;
};

export const BehindContext = createContext(null as unknown as Behind);

/** Behind the door: the page and its texts, of which the app has all here. */
export function useBehind() {
  return { ...use(BehindContext), text: useApp().message as (key: AccountKey, placeholders?: Placeholders) => string };
}

export const AccountContext = createContext(null as unknown as AccountPage);

export function useAccount() {
  const { page, message, askedLanguage } = useApp();
  return {
    ...use(AccountContext),
    text: message as ReturnType<typeof useBehind>['text'],
    /** For links and forms on this page: the language is not lost. `kept`: fields of what is begun. */
    toSection: (section: AccountSection, begun?: string, kept?: AccountPage['kept']) =>
      accountUrl(page.rules.basePath, section, {
        [accountFields.action]: begun,
        ...kept,
        [queryNames.language]: askedLanguage,
      }),
  };
}

/** Every text but those of emails: on the account page the server alone renders. */
export type AccountKey = keyof AllTexts;

/** The heading of a section, which is also its name in the overview; its text is named as its address. */
export const sectionTitle = (section: AccountSection) =>
  `account${accountSections[section].replace('/', '-')}-title` as AccountKey;

/** What parts shared with the other screens read; nothing moves on the account page. */
export function stillApp(page: Page, texts: Texts): AppState {
  const nothing = () => {};
  return {
    ...shownAt(page, placeOfUrl(page.url, page.rules.basePath), texts),
    // A newer instance may record an event that this one has no text for: its key is shown.
    message: (key, placeholders = {}) => filled(texts[key] ?? key, placeholders),
    saved: nothingSaved,
    language: page.language,
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
