import { invitedParameter } from '#contract/invited.ts';
import { type PlainScreen, queryNames, screenUrl } from '#contract/screens.ts';
import type { Config } from '../config/config.ts';
import { isNotice, type Mail, type MailKind } from '../storage/mail-kinds.ts';

/** An email with a link; one with a code has none, so that nobody learns to follow a link for a code. */
export type LinkMail = Mail & { kind: Exclude<MailKind, 'signInCode'> };

/** The address of an email's only link: a screen under the configured public URL, in the language of the email. */
export function composeLink(mail: LinkMail, { publicUrl, basePath }: Pick<Config, 'publicUrl' | 'basePath'>): string {
  // Email programs look for the end of an address in the text: the language comes last, since they may leave out a dot at
  // the end, and asterisks, which may count as emphasis, are encoded.
  const to = (screen: PlainScreen, query: Record<string, string | undefined> = {}) =>
    publicUrl.origin +
    screenUrl(basePath, screen, { ...query, [queryNames.language]: mail.language }).replaceAll('*', '%2A');
  const destination = { [queryNames.destination]: mail.details.destination };
  if (isNotice(mail.kind)) return to('forgotten');
  switch (mail.kind) {
    case 'resetLink':
      if (mail.token === null) throw new Error('An email with a reset link needs its token');
      return to('forgottenChange', { [queryNames.hash]: mail.token, ...destination });
    case 'invitation':
      if (mail.token === null) throw new Error('An email with an invitation needs its token');
      return to('forgottenChange', { [queryNames.hash]: mail.token, [invitedParameter]: 'true' });
    case 'singleSignOnHint':
      return to('singleSignOn', destination);
    case 'passkeyHint':
    case 'noReset':
      return to('login', destination);
  }
}
