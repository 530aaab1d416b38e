import { createContext, type ReactNode, use } from 'react';
import type { Language } from '#contract/languages.ts';
import type en from '#messages/en.json';

/** The texts of the pages; browsers don't load those of emails. */
export type MessageKey = Exclude<keyof typeof en, `mail-${string}`>;
export type Texts = Record<MessageKey, string>;
export type Placeholders = Record<string, string | number>;

const MessagesContext = createContext<{ language: Language; texts: Texts } | null>(null);

type Props = { language: Language; texts: Texts; children: ReactNode };

export function Messages({ language, texts, children }: Props) {
  return <MessagesContext value={{ language, texts }}>{children}</MessagesContext>;
}

/** The text of a key in the current language, with its `{placeholders}` filled. */
export function useMessage(): (key: MessageKey, placeholders?: Placeholders) => string {
  const { texts } = useMessages();
  return (key, placeholders = {}) => filled(texts[key], placeholders);
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
