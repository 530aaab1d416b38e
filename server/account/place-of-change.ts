import type { MailContent } from '../mail/queue-mail.ts';
import { browserName } from '../names/browser-name.ts';
import type { AccountVisit } from './account-visit.ts';

/** What an email says of where a change was made. */
export function placeOf({ visitor }: AccountVisit): Pick<MailContent, 'address' | 'browser' | 'language' | 'brand'> {
  const { address, language, brand, userAgent } = visitor;
  const browser = browserName(userAgent);
  return { address, language, brand, ...(browser && { browser }) };
}
