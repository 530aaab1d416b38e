import type { Language } from '#contract/languages.ts';
import de from '#messages/de.json' with { type: 'json' };
import en from '#messages/en.json' with { type: 'json' };
import es from '#messages/es.json' with { type: 'json' };
import it from '#messages/it.json' with { type: 'json' };
import nl from '#messages/nl.json' with { type: 'json' };
import pl from '#messages/pl.json' with { type: 'json' };

/** Every text but those of emails, for what the server alone renders. */
export type AllTexts = Record<Exclude<keyof typeof en, `mail-${string}`>, string>;

/** A missing text in any language is a compile error. */
export const allTexts: Record<Language, AllTexts> = { en, de, es, pl, nl, it };
