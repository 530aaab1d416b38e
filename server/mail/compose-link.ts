import { type PlainScreen, queryNames, screenUrl } from '#contract/screens.ts';
import type { Config } from '../config.ts';
import type { Mail, MailKind } from './mail.ts';

/** A mail that leads somewhere; one with a code does not, so that nobody learns to follow a link for a code. */
export type LinkMail = Mail & { kind: Exclude<MailKind, 'signInCode'> };

/** Where the one link of a mail leads: a screen under the configured public URL, in the language of the mail. */
export function composeLink(mail: LinkMail, { publicUrl, basePath }: Pick<Config, 'publicUrl' | 'basePath'>): string {
  const to = (screen: PlainScreen, query: Record<string, string> = {}) =>
    publicUrl.origin + screenUrl(basePath, screen, { ...query, [queryNames.language]: mail.language });
  switch (mail.kind) {
    case 'resetLink':
      if (mail.token === null) throw new Error('A mail with a reset link needs its token');
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
