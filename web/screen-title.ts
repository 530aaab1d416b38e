import { providerNotice } from '#contract/notices.ts';
import type { OpenSecondFactor, PageScreen } from '#contract/page.ts';
import { queryNames } from '#contract/screens.ts';
import { parameterOf } from './addresses.ts';
import type { MessageKey } from './messages.ts';

/** Whether the code is sent by email, not shown by an authenticator app (specification §3). */
export function isCodeSentViaEmail(search: string): boolean {
  return parameterOf(search, queryNames.codeSentViaEmail) === 'true';
}

/** Whether to ask for a recovery code and not the app's: the address requests it and the account has some. */
export function isRecovery(search: string, secondFactor: OpenSecondFactor | undefined): boolean {
  return secondFactor?.mayRecover === true && parameterOf(search, queryNames.recovery) === 'true';
}

/** The headings of the screens that always have the same. */
const fixed = {
  login: 'login-title',
  singleSignOn: 'sso-title',
  forgotten: 'forgotten-title',
  emailInfo: 'email-info-title',
  forgottenChange: 'change-title',
  forgottenChangedInfo: 'changed-title',
  forgottenChangeFailedInfo: 'change-failed-title',
  notFound: 'not-found-title',
  signedIn: 'signed-in-title',
  signOutConfirm: 'sign-out-title',
  notForYou: 'not-for-you-title',
} as const satisfies { [name in PageScreen['name']]?: MessageKey };

/** The heading of a screen, whose address has this query. */
export function titleKey(screen: PageScreen, search: string): MessageKey {
  switch (screen.name) {
    case 'twoFactor':
      if (isCodeSentViaEmail(search))
        return screen.secondFactor?.isCodeNotSent ? 'twofa-email-none-title' : 'twofa-email-title';
      return isRecovery(search, screen.secondFactor) ? 'recovery-title' : 'twofa-title';
    case 'twoFactorRegistration':
      if (!isCodeSentViaEmail(search)) return 'registration-title';
      return screen.secondFactor?.isCodeNotSent ? 'twofa-email-none-title' : 'registration-email-title';
    case 'loginFail': {
      const notice = providerNotice(screen.type, search);
      return notice ? `notice-${notice}-title` : `login-fail-${screen.type}-title`;
    }
    case 'recoveryCodes':
      return screen.codes ? 'recovery-codes-title' : 'recovery-codes-shown-title';
    case 'leaving':
      return screen.isSignOut ? 'leaving-sign-out-title' : 'leaving-title';
    case 'registerElsewhere':
      if (screen.why === 'tooOld') return 'once-more-title';
      return screen.why === 'passkey' ? 'login-passkey' : 'register-elsewhere-title';
    case 'problem':
      return `problem-${screen.status}-title`;
    default:
      return fixed[screen.name];
  }
}
