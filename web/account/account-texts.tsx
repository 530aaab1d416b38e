import { createContext, use } from 'react';
import type { Language } from '#contract/languages.ts';
import de from '#messages/de.json' with { type: 'json' };
import en from '#messages/en.json' with { type: 'json' };
import es from '#messages/es.json' with { type: 'json' };
import it from '#messages/it.json' with { type: 'json' };
import nl from '#messages/nl.json' with { type: 'json' };
import pl from '#messages/pl.json' with { type: 'json' };
import { filled, type Placeholders } from '../messages.tsx';

/** Every text but those of emails: on the account page the server alone renders. */
export type AccountKey = Exclude<keyof typeof en, `mail-${string}`>;
export type AccountTexts = Record<AccountKey, string>;

/** A missing text in any language is a compile error. */
const originals: Record<Language, AccountTexts> = { en, de, es, pl, nl, it };

/** The texts in a language, with what a brand says in words of its own. */
export function accountTexts(language: Language, own: Partial<AccountTexts> = {}): AccountTexts {
  return { ...originals[language], ...own };
}

export const AccountTextsContext = createContext<AccountTexts>(originals.en);

/** The text of a key in the language of the page, with its `{placeholders}` filled. */
export function useAccountText(): (key: AccountKey, placeholders?: Placeholders) => string {
  const texts = use(AccountTextsContext);
  return (key, placeholders = {}) => filled(texts[key], placeholders);
}
