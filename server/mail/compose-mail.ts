import type { Language } from '#contract/languages.ts';
import { typeset } from '#contract/typeset.ts';
import type { Config } from '../config/config.ts';
import { hour, limits, minute, second } from '../limits.ts';
import type { Mail, MailDetails, WordedMail } from '../storage/mail-kinds.ts';
import { composeLink } from './compose-link.ts';
import { composeText } from './compose-text.ts';
import { mailLayout } from './layout.ts';
import type { MailBlock, MailContent } from './layout-content.ts';
import { mailLayoutText } from './layout-text.ts';

type MailConfig = Pick<Config, 'publicUrl' | 'basePath' | 'branding' | 'accentColour'>;

/** Composes an email in its language, either with one link to the configured public URL or with a code and no link. */
export function composeMail(mail: Mail, config: MailConfig): WordedMail {
  const content = contentOf(mail, config);
  return {
    subject: content.subject,
    text: mailLayoutText(content),
    html: mailLayout(content, config.accentColour),
  };
}

function contentOf(mail: Mail, config: MailConfig): MailContent {
  const { kind, language } = mail;
  const hub = harmless(config.branding.name);
  const happened = composeText(language, `mail-${kind}-text`, { hub });
  const ifNotYou = composeText(language, `mail-${kind}-not-you`);
  return {
    language,
    hub,
    subject: composeText(language, `mail-${kind}-subject`, { hub }),
    preview: `${happened} ${ifNotYou}`,
    title: composeText(language, `mail-${kind}-title`),
    blocks: inOrder(mail, {
      happened: { kind: 'text', text: happened },
      action: actionOf(mail, config),
      facts: { kind: 'facts', facts: factsOf(mail.details, language) },
      ifNotYou: { kind: 'text', text: ifNotYou },
    }),
    footer: composeText(language, 'mail-footer', { hub }),
    codeLine: kind === 'signInCode' ? `@${config.publicUrl.hostname} #${codeOf(mail)}` : null,
  };
}

/** What readers should do, besides reading. */
function actionOf(mail: Mail, config: MailConfig): MailBlock {
  const { kind, language } = mail;
  if (kind === 'signInCode') return { kind: 'code', code: codeOf(mail) };
  const href = composeLink({ ...mail, kind }, config);
  return { kind: 'button', label: composeText(language, `mail-${kind}-button`), href };
}

function codeOf({ token }: Mail): string {
  if (token === null) throw new Error('An email with a code needs its token');
  return token;
}

type Parts = Record<'happened' | 'action' | 'facts' | 'ifNotYou', MailBlock>;

/** In a requested email the button or code comes first; in a notice it is only for those who did not do it. */
function inOrder({ kind, details, language }: Mail, { happened, action, facts, ifNotYou }: Parts): MailBlock[] {
  switch (kind) {
    case 'resetLink':
    case 'signInCode':
      return [happened, action, validityOf(kind, details, language), facts, ifNotYou];
    case 'singleSignOnHint':
      return [happened, action, facts, ifNotYou];
    case 'passwordChanged':
    case 'newDevice':
    case 'secondFactorAdded':
    case 'secondFactorRemoved':
      return [happened, facts, ifNotYou, action];
  }
}

function validityOf(kind: 'resetLink' | 'signInCode', { validFor }: MailDetails, language: Language): MailBlock {
  const duration = durationInWords(kind === 'resetLink' ? limits.resetLink : (validFor ?? limits.emailCode), language);
  return { kind: 'note', text: composeText(language, `mail-${kind}-validity`, { duration }) };
}

function factsOf({ username, at, address, browser }: MailDetails, language: Language) {
  const known = [
    ['mail-account', username],
    ['mail-time', timeInWords(new Date(at), language)],
    ['mail-address', address],
    ['mail-browser', browser],
  ] as const;
  return known.flatMap(([key, value]) =>
    value ? [{ label: composeText(language, key), value: harmless(value) }] : [],
  );
}

/** Creating a format is the slowest part of composing. */
const timeFormats = perLanguage(
  (language) =>
    new Intl.DateTimeFormat(language === 'en' ? 'en-GB' : language, {
      day: 'numeric',
      month: 'long',
      year: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
      timeZone: 'UTC',
      timeZoneName: 'short',
    }),
);
const durationFormats = perLanguage((language) => new Intl.DurationFormat(language, { style: 'long' }));

/** Created once per language, on first use. */
function perLanguage<Format>(make: (language: Language) => Format): (language: Language) => Format {
  const made = new Map<Language, Format>();
  return (language) => {
    const format = made.get(language) ?? make(language);
    made.set(language, format);
    return format;
  };
}

function timeInWords(time: Date, language: Language): string {
  return typeset(language, timeFormats(language).format(time));
}

/** Hours and whole minutes, or seconds below a minute, always rounded down: “1 hour”. */
function durationInWords(milliseconds: number, language: Language): string {
  const duration =
    milliseconds < minute
      ? { seconds: Math.floor(milliseconds / second) }
      : { hours: Math.floor(milliseconds / hour), minutes: Math.floor((milliseconds % hour) / minute) };
  return typeset(language, durationFormats(language).format(duration));
}

/**
 * A name made safe for subjects and our own text: on one line, in reading order, and not an address, which email
 * programs would turn into a second link.
 */
function harmless(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/\p{Bidi_Control}/gu, '')
    .replaceAll('://', ':\u2060//')
    .trim();
}
