import { createContext, use } from 'react';
import type { Language } from '#contract/languages.ts';
import { type AllTexts, allTexts } from '../all-texts.ts';
import { filled, type Placeholders } from '../messages.tsx';

/** Every text but those of emails: on the account page the server alone renders. */
export type AccountKey = keyof AllTexts;

/** The texts in a language, with what a brand says in words of its own. */
export function accountTexts(language: Language, own: Partial<AllTexts> = {}): AllTexts {
  return { ...allTexts[language], ...own };
}

export const AccountTextsContext = createContext<AllTexts>(allTexts.en);

/** The text of a key in the language of the page, with its `{placeholders}` filled. */
export function useAccountText(): (key: AccountKey, placeholders?: Placeholders) => string {
  const texts = use(AccountTextsContext);
  return (key, placeholders = {}) => filled(texts[key], placeholders);
}
