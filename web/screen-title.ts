import type { Page } from '#contract/page.ts';
import { queryNames } from '#contract/screens.ts';
import { type Place, parameterOf } from './addresses.ts';
import type { MessageKey } from './messages.ts';

/** Whether the code is sent by email, not shown by an authenticator app (specification §3). */
export function isCodeSentViaEmail(place: Place): boolean {
  return parameterOf(place.search, queryNames.codeSentViaEmail) === 'true';
}

/** Whether to ask for a recovery code and not the app's: the address requests it and the account has some. */
export function isRecovery(place: Place, { secondFactor }: Pick<Page, 'secondFactor'>): boolean {
  return secondFactor?.mayRecover === true && parameterOf(place.search, queryNames.recovery) === 'true';
}

/** The heading of a place. */
export function titleKey(place: Place, page: Pick<Page, 'serverPage' | 'secondFactor'>): MessageKey {
  const { serverPage, secondFactor } = page;
  switch (serverPage?.name) {
    case 'signedIn':
      return 'signed-in-title';
    case 'signOutConfirm':
      return 'sign-out-title';
    case 'signInOnceMore':
      return 'once-more-title';
    case 'recoveryCodes':
      return serverPage.codes ? 'recovery-codes-title' : 'recovery-codes-shown-title';
    case 'leaving':
      return serverPage.isSignOut ? 'leaving-sign-out-title' : 'leaving-title';
    case 'registerElsewhere':
      return serverPage.why === 'passkey' ? 'login-passkey' : 'register-elsewhere-title';
    case 'notForYou':
      return 'not-for-you-title';
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
      if (isCodeSentViaEmail(place))
        return secondFactor?.isCodeNotSent ? 'twofa-email-none-title' : 'twofa-email-title';
      return isRecovery(place, page) ? 'recovery-title' : 'twofa-title';
    case 'twoFactorRegistration':
      if (!isCodeSentViaEmail(place)) return 'registration-title';
      return secondFactor?.isCodeNotSent ? 'twofa-email-none-title' : 'registration-email-title';
    case 'loginFail':
      return `login-fail-${screen.type}-title`;
    case 'notFound':
      return 'not-found-title';
  }
}
