import { type MailPlace, placeOfVisitor } from '../mail/queue-mail.ts';
import type { AccountVisit } from './account-visit.ts';

/** What an email says of where a change was made. */
export function placeOf({ visitor }: AccountVisit): MailPlace {
  return placeOfVisitor(visitor);
}
