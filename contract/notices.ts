/**
 * What a redirect tells the target screen (`?notice=…`), so that no step ends in silence. Each has its
 * texts `notice-…-title` and `-text`, except `codeWrong`, `codeMalformed` and `emailMalformed`, which use
 * those of the field, and `chooseConnection`, which has buttons.
 */
export const notices = [
  'signInExpired',
  'pageNotKept',
  'codeWrong',
  'codeMalformed',
  'emailMalformed',
  'entryMissing',
  'entryTooLong',
  'codeSent',
  'codeTooSoon',
  'codeNotSent',
  'tooManyAttempts',
  'tooManyCodes',
  'unavailable',
  'useSingleSignOn',
  'chooseConnection',
  'cookiesNeeded',
  'signInCancelled',
  'passkeyRefused',
  'signOutIncomplete',
] as const;
export type Notice = (typeof notices)[number];

/** The notice that a query names, or null. */
export function noticeOfSearch(search: string): Notice | null {
  const text = new URLSearchParams(search).get('notice');
  return notices.find((notice) => notice === text) ?? null;
}
