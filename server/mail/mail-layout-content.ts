import type { Language } from '#contract/languages.ts';

/** One part of a mail, in the order in which it is read. */
export type MailBlock =
  | { kind: 'text' | 'note'; text: string }
  | { kind: 'facts'; facts: { label: string; value: string }[] }
  | { kind: 'button'; label: string; href: string }
  | { kind: 'code'; code: string };

/** What a mail says, before it is laid out as text or as HTML: both show the same, since both walk over this. */
export type MailContent = {
  language: Language;
  hub: string;
  subject: string;
  /** What a list of mails shows beside the subject. */
  preview: string;
  title: string;
  blocks: MailBlock[];
  footer: string;
  /** Ends the text part, for programs and not for readers: of which site a code is. */
  codeLine: string | null;
};
