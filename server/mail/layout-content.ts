import type { Language } from '#contract/languages.ts';

/** One part of an email, in reading order. */
export type MailBlock =
  | { kind: 'text' | 'note'; text: string }
  | { kind: 'facts'; facts: { label: string; value: string }[] }
  | { kind: 'button'; label: string; href: string }
  | { kind: 'code'; code: string };

/** The content of an email before its layout as text or HTML: both are generated from it, so both say the same. */
export type MailContent = {
  language: Language;
  hub: string;
  subject: string;
  /** The preview that a mailbox shows beside the subject. */
  preview: string;
  title: string;
  blocks: MailBlock[];
  footer: string;
  /** Ends the text part, for programs: the site that a code belongs to. */
  codeLine: string | null;
};
