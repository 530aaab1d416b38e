import { type PlainScreen, queryNames, screenUrl } from '#contract/screens.ts';
import type { Config } from '../config/config.ts';
import type { Mail, MailKind } from '../storage/mail-kinds.ts';

/** An email with a link; one with a code has none, so that nobody learns to follow a link for a code. */
export type LinkMail = Mail & { kind: Exclude<MailKind, 'signInCode'> };

/** The address of an email's only link: a screen under the configured public URL, in the language of the email. */
export function composeLink(mail: LinkMail, { publicUrl, basePath }: Pick<Config, 'publicUrl' | 'basePath'>): string {
  const to = (screen: PlainScreen, query: Record<string, string> = {}) =>
    publicUrl.origin + screenUrl(basePath, screen, { ...query, [queryNames.language]: mail.language });
  switch (mail.kind) {
    case 'resetLink':
      if (mail.token === null) throw new Error('An email with a reset link needs its token');
      return to('forgottenChange', { [queryNames.hash]: mail.token });
    case 'singleSignOnHint':
      return to('singleSignOn');
    case 'passwordChanged':
    case 'newDevice':
    case 'secondFactorAdded':
    case 'secondFactorRemoved':
      return to('forgotten');
  }
}
