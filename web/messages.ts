import type en from '#messages/en.json';

/**
 * The texts of the pages; browsers don't load those of emails, nor those of the account page, which has no script, nor those
 * of invitations, which documents carry in place of others (invitation-texts.ts).
 */
export type MessageKey = Exclude<keyof typeof en, `mail-${string}` | `account-${string}` | `invitation-${string}`>;
export type Texts = Record<MessageKey, string>;
export type Placeholders = Record<string, string | number>;

export function filled(text: string, placeholders: Placeholders): string {
  return text.replace(/\{(\w+)\}/g, (whole, name) => String(placeholders[name] ?? whole));
}
