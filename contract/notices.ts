import type { LoginFailType } from './reasons.ts';

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
  'providerSilent',
  'passkeyRefused',
  'signOutIncomplete',
] as const;
export type Notice = (typeof notices)[number];

export function noticeOfSearch(search: string): Notice | null {
  const text = new URLSearchParams(search).get('notice');
  return notices.find((notice) => notice === text) ?? null;
}

/** What a failed single sign-on tells where nothing was mistyped. */
export function providerNotice(type: LoginFailType, search: string) {
  const told = ['signInCancelled', 'cookiesNeeded', 'providerSilent', 'signInExpired'] as const;
  const notice = noticeOfSearch(search);
  return type === 'oidc' || type === 'saml' ? (told.find((one) => one === notice) ?? null) : null;
}
