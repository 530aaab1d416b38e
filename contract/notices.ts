/**
 * What a redirect tells the screen that it leads to (`?notice=…`), so that no step ends without a word (decisions §13).
 * Each has its texts `notice-…-title` and `-text`; `codeWrong`, `clockWrong`, `codeMalformed`
 * and `emailMalformed` use those of the field itself, and `chooseConnection` has buttons.
 */
export const notices = [
  'signInExpired',
  'codeWrong',
  'clockWrong',
  'codeMalformed',
  'emailMalformed',
  'entryMissing',
  'entryTooLong',
  'codeSent',
  'codeTooSoon',
  'codeNotSent',
  'tooManyAttempts',
  'tooManyCodes',
  'somethingWentWrong',
  'unavailable',
  'useSingleSignOn',
  'chooseConnection',
  'cookiesNeeded',
  'signInCancelled',
  'signOutIncomplete',
] as const;
export type Notice = (typeof notices)[number];

/** The notice that a query names, or null. */
export function noticeOfSearch(search: string): Notice | null {
  const text = new URLSearchParams(search).get('notice');
  return notices.find((notice) => notice === text) ?? null;
}
