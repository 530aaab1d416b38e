import type { Language } from '#contract/languages.ts';
import { typesetTexts } from '#contract/typeset.ts';
import de from '#messages/de.json' with { type: 'json' };
import en from '#messages/en.json' with { type: 'json' };
import es from '#messages/es.json' with { type: 'json' };
import it from '#messages/it.json' with { type: 'json' };
import nl from '#messages/nl.json' with { type: 'json' };
import pl from '#messages/pl.json' with { type: 'json' };

/** A missing text in any language is a compile error. */
const textsOf: Record<Language, Record<MailTextKey, string>> = {
  en: typesetTexts('en', en),
  de: typesetTexts('de', de),
  es: typesetTexts('es', es),
  pl: typesetTexts('pl', pl),
  nl: typesetTexts('nl', nl),
  it: typesetTexts('it', it),
};

/** The texts of emails; pages don't have them. */
export type MailTextKey = Extract<keyof typeof en, `mail-${string}`>;

/** A text of an email, its `{placeholders}` filled. */
export function composeText(language: Language, key: MailTextKey, placeholders: Record<string, string> = {}): string {
  return textsOf[language][key].replace(/\{(\w+)\}/g, (whole, name) => placeholders[name] ?? whole);
}
