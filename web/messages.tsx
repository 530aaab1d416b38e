import { createContext, type ReactNode, use } from 'react';
import type { Language } from '#contract/languages.ts';
import type en from '#messages/en.json';

/**
 * The texts of the pages; browsers don't load those of emails, nor those of the account page, which has no script, nor those
 * of invitations, which documents carry in place of others (invitation-texts.ts).
 */
export type MessageKey = Exclude<keyof typeof en, `mail-${string}` | `account-${string}` | `invitation-${string}`>;
export type Texts = Record<MessageKey, string>;
/** A document carries the texts of its own screen only; the rest is loaded when idle (load-texts.ts). */
export type SomeTexts = Partial<Texts>;
export type Placeholders = Record<string, string | number>;

const MessagesContext = createContext<{ language: Language; texts: SomeTexts } | null>(null);

type Props = { language: Language; texts: SomeTexts; children: ReactNode };

export function Messages({ language, texts, children }: Props) {
  return <MessagesContext value={{ language, texts }}>{children}</MessagesContext>;
}

/**
 * The text of a key in the current language, with its `{placeholders}` filled. `later`: the keys of what the server does
 * not render but the script may show on the same screen, such as a mistake in a field; the document carries them too.
 */
export function useMessage(...later: readonly MessageKey[]): (key: MessageKey, placeholders?: Placeholders) => string {
  const { texts } = useMessages();
  for (const key of later) textOf(texts, key);
  return (key, placeholders = {}) => filled(textOf(texts, key), placeholders);
}

/** Throws rather than show nothing or a key: every screen has its texts before it is shown. */
export function textOf(texts: SomeTexts, key: MessageKey): string {
  const text = texts[key];
  if (text === undefined) throw new Error(`The page has no text ${key}`);
  return text;
}

export function useLanguage(): Language {
  return useMessages().language;
}

function useMessages() {
  const messages = use(MessagesContext);
  if (!messages) throw new Error('Messages are missing around this component');
  return messages;
}

export function filled(text: string, placeholders: Placeholders): string {
  return text.replace(/\{(\w+)\}/g, (whole, name) => String(placeholders[name] ?? whole));
}
