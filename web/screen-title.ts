import type { Page, ServerPage } from '#contract/page.ts';
import { queryNames } from '#contract/screens.ts';
import type { MessageKey, Texts } from './messages.tsx';
import type { Place } from './place.ts';
import { parameterOf } from './query.ts';

/** Whether the code goes by e-mail rather than by an authenticator app (specification §3). */
export function isCodeSentViaEmail(place: Place): boolean {
  return parameterOf(place.search, queryNames.codeSentViaEmail) === 'true';
}

/** The heading of a place, which is the title of its document too. */
export function titleKey(place: Place, serverPage: ServerPage | null): MessageKey {
  switch (serverPage?.name) {
    case 'signedIn':
      return 'signed-in-title';
    case 'signOutConfirm':
      return 'sign-out-title';
    case 'problem':
      return `problem-${serverPage.status}-title`;
  }
  const { screen } = place;
  switch (screen.name) {
    case 'login':
      return 'login-title';
    case 'singleSignOn':
      return 'sso-title';
    case 'forgotten':
      return 'forgotten-title';
    case 'emailInfo':
      return 'email-info-title';
    case 'forgottenChange':
      return 'change-title';
    case 'forgottenChangedInfo':
      return 'changed-title';
    case 'forgottenChangeFailedInfo':
      return 'change-failed-title';
    case 'twoFactor':
      return isCodeSentViaEmail(place) ? 'twofa-email-title' : 'twofa-title';
    case 'twoFactorRegistration':
      return isCodeSentViaEmail(place) ? 'registration-email-title' : 'registration-title';
    case 'loginFail':
      return `login-fail-${screen.type}-title`;
    case 'notFound':
      return 'not-found-title';
  }
}

export function documentTitle(texts: Texts, place: Place, { serverPage, branding }: Page): string {
  return `${texts[titleKey(place, serverPage)]} · ${branding.name}`;
}
