import { accountUrl } from '#contract/account.ts';
import type { Language } from '#contract/languages.ts';
import type { OwnTexts } from '#contract/page.ts';
import { type PlainScreen, queryNames, screenUrl } from '#contract/screens.ts';
import { typeset } from '#contract/typeset.ts';
import type { Config } from '../config/config.ts';
import { originalTexts, type TextKey } from '../config/texts.ts';
import { hour, limits, minute, second } from '../limits.ts';
import { isNotice, type Mail, type MailDetails, type MailKind, type WordedMail } from '../people/mail-kinds.ts';
import { type MailBlock, type MailContent, mailLayout, mailLayoutText } from './layout.ts';

/** Where links lead, and the brand in which the reader is written to. */
type MailSetting = Pick<Config, 'publicUrl' | 'basePath' | 'brand'>;

/** Composes an email in its language, either with one link to the configured public URL or with a code and no link. */
export function composeMail(mail: Mail, setting: MailSetting): WordedMail {
  const content = contentOf(mail, setting);
  return {
    subject: content.subject,
    text: mailLayoutText(content),
    html: mailLayout(content, setting.brand.accentColour),
    from: content.hub,
  };
}

function contentOf(mail: Mail, setting: MailSetting): MailContent {
  const { kind, language } = mail;
  const voice = voiceOf(mail, setting);
  const hub = harmless(setting.brand.branding.name);
  const happened = composeText(voice, `mail-${kind}-text`, { hub });
  // A new password does not stop who has signed in by a passkey: it has to be removed.
  const act = kind === 'newDevice' && mail.details.passkey ? 'passkeyAdded' : kind;
  const ifNotYou = composeText(voice, `mail-${act}-not-you`);
  return {
    language,
    hub,
    subject: composeText(voice, `mail-${kind}-subject`, { hub }),
    preview: `${happened} ${ifNotYou}`,
    title: composeText(voice, `mail-${kind}-title`),
    blocks: inOrder(mail, voice, {
      happened: { kind: 'text', text: happened },
      action: actionOf(mail, setting),
      facts: { kind: 'facts', facts: factsOf(mail.details, voice) },
      ifNotYou: { kind: 'text', text: ifNotYou },
    }),
    footer: composeText(voice, 'mail-footer', { hub }),
    codeLine: kind === 'signInCode' ? `@${setting.publicUrl.hostname} #${codeOf(mail)}` : null,
  };
}

function actionOf(mail: Mail, setting: MailSetting): MailBlock {
  const { kind } = mail;
  if (kind === 'signInCode') return { kind: 'code', code: codeOf(mail) };
  const href = composeLink({ ...mail, kind }, setting);
  return { kind: 'button', label: composeText(voiceOf(mail, setting), `mail-${kind}-button`), href };
}

function voiceOf({ language }: Mail, { brand }: MailSetting): Voice {
  return { language, texts: brand.texts };
}

function codeOf({ token }: Mail): string {
  if (token === null) throw new Error('An email with a code needs its token');
  return token;
}

type Parts = Record<'happened' | 'action' | 'facts' | 'ifNotYou', MailBlock>;

/** In a requested email the button or code comes first; in a notice it is only for those who did not do it. */
function inOrder({ kind, details }: Mail, voice: Voice, { happened, action, facts, ifNotYou }: Parts): MailBlock[] {
  if (isNotice(kind)) return [happened, facts, ifNotYou, action];
  const validity = kind in validities ? [validityOf(kind as keyof typeof validities, details, voice)] : [];
  return [happened, action, ...validity, facts, ifNotYou];
}

const validities = { resetLink: limits.resetLink, invitation: limits.invitation, signInCode: limits.emailCode };

function validityOf(kind: keyof typeof validities, { validFor }: MailDetails, voice: Voice): MailBlock {
  const duration = durationInWords(validFor ?? validities[kind], voice.language);
  return { kind: 'note', text: composeText(voice, `mail-${kind}-validity`, { duration }) };
}

function factsOf(details: MailDetails, voice: Voice) {
  const { username, at, takesEffectAt, address, browser, passkey, passkeys } = details;
  const known = [
    ['mail-account', username],
    ['mail-time', timeInWords(new Date(at), voice.language)],
    ['mail-takes-effect', takesEffectAt && timeInWords(new Date(takesEffectAt), voice.language)],
    ['mail-address', address],
    ['mail-browser', browser],
    ['mail-passkey', passkey],
    ['mail-passkeys-left', passkeys?.toString()],
  ] as const;
  return known.flatMap(([key, value]) => (value ? [{ label: composeText(voice, key), value: harmless(value) }] : []));
}

/** A line may end between the date and the time only. */
function timeInWords(time: Date, language: Language): string {
  const format = new Intl.DateTimeFormat(language === 'en' ? 'en-GB' : language, {
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZone: 'UTC',
    timeZoneName: 'short',
  });
  const parts = format.formatToParts(time);
  return parts
    .map(({ type, value }, index) => {
      const isSeam = type === 'literal' && parts[index - 1]?.type === 'year';
      return value.replace(isSeam ? /(?<= .*) /g : / /g, '\u00a0');
    })
    .join('');
}

/** Hours and whole minutes, or seconds below a minute, always rounded down: “1 hour”. */
function durationInWords(milliseconds: number, language: Language): string {
  const duration =
    milliseconds < minute
      ? { seconds: Math.floor(milliseconds / second) }
      : { hours: Math.floor(milliseconds / hour), minutes: Math.floor((milliseconds % hour) / minute) };
  return typeset(language, new Intl.DurationFormat(language, { style: 'long' }).format(duration));
}

/** A name for subjects and our own text: on one line, in reading order, and no address, which would become a second link. */
function harmless(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/\p{Bidi_Control}/gu, '')
    .replaceAll('://', ':\u2060//')
    .trim();
}

/** An email with a link; one with a code has none, so that nobody learns to follow a link for a code. */
type LinkMail = Mail & { kind: Exclude<MailKind, 'signInCode'> };

/** The address of an email's only link: a screen under the configured public URL, in the language of the email. */
function composeLink(mail: LinkMail, { publicUrl, basePath }: Pick<Config, 'publicUrl' | 'basePath'>): string {
  // Email programs look for the end of an address in the text: the language comes last, since they may leave out a dot at
  // the end, and asterisks, which may count as emphasis, are encoded.
  const to = (screen: PlainScreen, query: Record<string, string | undefined> = {}) =>
    publicUrl.origin +
    screenUrl(basePath, screen, { ...query, [queryNames.language]: mail.language }).replaceAll('*', '%2A');
  const destination = { [queryNames.destination]: mail.details.destination };
  // Where the second factor can be kept; and no new link would come to an old address.
  if (mail.kind === 'secondFactorResetSoon' || mail.kind === 'emailChanged')
    return publicUrl.origin + accountUrl(basePath, 'overview', { [queryNames.language]: mail.language });
  if (isNotice(mail.kind)) return to('forgotten');
  switch (mail.kind) {
    case 'resetLink':
      if (mail.token === null) throw new Error('An email with a reset link needs its token');
      return to('forgottenChange', { [queryNames.hash]: mail.token, ...destination });
    case 'invitation':
      if (mail.token === null) throw new Error('An email with an invitation needs its token');
      return to('forgottenChange', { [queryNames.hash]: mail.token, [queryNames.invited]: 'true' });
    case 'singleSignOnHint':
      return to('singleSignOn', destination);
    case 'noReset':
      return to('login', destination);
  }
}

/** The texts of emails; pages don't have them. */
type MailTextKey = Extract<TextKey, `mail-${string}`>;

/** The language of an email, and the texts of its brand that replace ours. */
type Voice = { language: Language; texts: OwnTexts };

/** A text of an email in the words of a brand, its `{placeholders}` filled. */
export function composeText(
  { language, texts }: Voice,
  key: MailTextKey,
  placeholders: Record<string, string> = {},
): string {
  const text = texts[language]?.[key] ?? originalTexts(language)[key];
  return text.replace(/\{(\w+)\}/g, (whole, name) => placeholders[name] ?? whole);
}
