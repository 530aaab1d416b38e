import type { Language } from '#contract/languages.ts';
import de from '#messages/de.json' with { type: 'json' };
import en from '#messages/en.json' with { type: 'json' };
import es from '#messages/es.json' with { type: 'json' };
import it from '#messages/it.json' with { type: 'json' };
import nl from '#messages/nl.json' with { type: 'json' };
import pl from '#messages/pl.json' with { type: 'json' };
import type { MessageKey, Texts } from './messages.ts';

/** Every text but those of emails, for what the server alone renders. */
export type AllTexts = Record<Exclude<keyof typeof en, `mail-${string}`>, string>;

/** A missing text in any language is a compile error. */
export const allTexts: Record<Language, AllTexts> = { en, de, es, pl, nl, it };

type InvitationText = Extract<keyof typeof en, `invitation-${string}`>;

/** What the screens of a reset link say to somebody who cannot sign in yet, by the text that it replaces. */
const replaced = {
  'change-title': 'invitation-title',
  'change-password': 'invitation-password',
  'change-repeat': 'invitation-repeat',
  'change-button': 'invitation-button',
  'change-no-link-text': 'invitation-no-link-text',
  'change-failed-title': 'invitation-failed-title',
  'changed-failed-page-error-3': 'invitation-over',
  'changed-failed-page-error-4': 'invitation-failed-text',
} as const satisfies Partial<Record<MessageKey, InvitationText>>;

/** The texts of an invitation under the keys of those that they replace in its documents. */
export function invitationTexts(texts: Record<InvitationText, string>): Partial<Texts> {
  return Object.fromEntries(Object.entries(replaced).map(([key, other]) => [key, texts[other]]));
}
