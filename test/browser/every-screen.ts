import { keptPasskey } from './portal-database.ts';
import type { Stage } from './stages.ts';
import type { MessageKey } from './texts.ts';

/**
 * A screen by its address. `stage` is how far a sign-in must have come to show it; `shows` is a text that no other step under
 * that heading has; `needs` says what the console repeats of the answer.
 */
type ScreenUnderTest = {
  address: string;
  heading: MessageKey;
  shows?: MessageKey;
  stage?: Stage;
  status?: number;
  needs?: RegExp;
};

const notThere = /status of 404/;
const recoveryCodes = '/portal/two-factor-authentication/recovery-codes';

/** Every screen of specification §2 in each of its states. */
export const everyScreen: readonly ScreenUnderTest[] = [
  { address: '/portal/', heading: 'login-title' },
  { address: '/portal/login', heading: 'login-title' },
  { address: '/portal/login?login=ada', heading: 'login-title' },
  { address: '/portal/login?notice=signInExpired', heading: 'login-title' },
  { address: '/portal/forgotten', heading: 'forgotten-title' },
  { address: '/portal/forgotten?notice=tooManyAttempts', heading: 'forgotten-title' },
  { address: '/portal/emailInfo', heading: 'email-info-title' },
  { address: '/portal/forgottenChange', heading: 'change-title' },
  { address: '/portal/forgottenChange?hash=of-a-mail', heading: 'change-title' },
  { address: '/portal/forgottenChange?hash=of-a-mail&reason=1', heading: 'change-title' },
  { address: '/portal/forgottenChange?hash=of-a-mail&notice=unavailable', heading: 'change-title' },
  { address: '/portal/forgottenChange?hash=of-a-mail&invited=true', heading: 'invitation-title' },
  { address: '/portal/forgottenChange?hash=of-a-mail&invited=passkey', heading: 'invitation-passkey-title' },
  { address: '/portal/forgottenChangedInfo', heading: 'changed-title' },
  { address: '/portal/forgottenChangeFailedInfo', heading: 'change-failed-title' },
  { address: '/portal/forgottenChangeFailedInfo?reason=3', heading: 'change-failed-title' },
  { address: '/portal/forgottenChangeFailedInfo?7', heading: 'change-failed-title' },
  { address: '/portal/forgottenChangeFailedInfo?reason=3&invited=true', heading: 'invitation-failed-title' },
  { address: '/portal/twoFactor', heading: 'twofa-title', stage: 'app' },
  { address: '/portal/twoFactor?notice=codeWrong', heading: 'twofa-title', stage: 'app' },
  { address: '/portal/twoFactor?notice=codeMalformed', heading: 'twofa-title', stage: 'app' },
  { address: '/portal/twoFactor?recovery=true', heading: 'recovery-title', stage: 'app' },
  { address: '/portal/twoFactor?recovery=true&notice=codeWrong', heading: 'recovery-title', stage: 'app' },
  { address: '/portal/twoFactor?codeSentViaEmail=true', heading: 'twofa-email-title', stage: 'email' },
  { address: '/portal/twoFactor?codeSentViaEmail=true&notice=codeSent', heading: 'twofa-email-title', stage: 'email' },
  {
    address: '/portal/twoFactor?codeSentViaEmail=true&notice=codeNotSent',
    heading: 'twofa-email-title',
    stage: 'email',
  },
  { address: '/portal/twoFactorRegistration', heading: 'registration-title', stage: 'new app' },
  { address: '/portal/twoFactorRegistration?redirectURL=%2Fportal%2Fx', heading: 'once-more-title', stage: 'old' },
  {
    address: '/portal/twoFactorRegistration?redirectURL=%2Fx',
    heading: 'register-elsewhere-title',
    stage: 'elsewhere',
  },
  {
    address: '/portal/twoFactorRegistration?redirectURL=%2Fy',
    heading: 'register-elsewhere-title',
    stage: 'elsewhere without password',
  },
  {
    address: '/portal/twoFactorRegistration?redirectURL=%2Fz',
    heading: 'register-elsewhere-title',
    stage: 'other network',
  },
  {
    address: '/portal/twoFactorRegistration?codeSentViaEmail=true',
    heading: 'registration-email-title',
    stage: 'new email',
  },
  { address: recoveryCodes, heading: 'recovery-codes-title', stage: 'recovery codes' },
  { address: `${recoveryCodes}?few`, heading: 'recovery-codes-shown-title', stage: 'few recovery codes' },
  { address: '/portal/account', heading: 'account-title', stage: 'account' },
  { address: '/portal/account?notice=languageChosen', heading: 'account-title', stage: 'elsewhere' },
  { address: '/portal/account/password', heading: 'account-password-title', stage: 'account' },
  {
    address: '/portal/account/password?notice=passwordRefused&reason=9',
    heading: 'account-password-title',
    stage: 'account',
  },
  { address: '/portal/account/passkeys', heading: 'account-passkeys-title', stage: 'account' },
  { address: '/portal/account/passkeys?do=enrol', heading: 'account-passkeys-title', stage: 'account' },
  {
    address: `/portal/account/passkeys?do=rename&id=${keptPasskey}`,
    heading: 'account-passkeys-title',
    shows: 'account-passkeys-name',
    stage: 'account',
  },
  {
    address: `/portal/account/passkeys?do=remove&id=${keptPasskey}`,
    heading: 'account-passkeys-title',
    shows: 'account-passkeys-remove',
    stage: 'account',
  },
  {
    address: '/portal/account/passkeys?do=enrol&notice=passkeyProofRefused',
    heading: 'account-passkeys-title',
    shows: 'account-proof-code',
    stage: 'account long ago',
  },
  { address: '/portal/account/app', heading: 'account-app-title', stage: 'account' },
  {
    address: '/portal/account/app?do=replace',
    heading: 'account-app-title',
    shows: 'account-app-replace-text',
    stage: 'account',
  },
  {
    address: '/portal/account/app?do=replace&notice=codeWrong',
    heading: 'account-app-title',
    shows: 'registration-scan',
    stage: 'account',
  },
  {
    address: '/portal/account/app?do=remove',
    heading: 'account-app-title',
    shows: 'account-app-remove-text',
    stage: 'account',
  },
  {
    address: '/portal/account/app?notice=appRemoved',
    heading: 'account-app-title',
    shows: 'account-app-button-set-up',
    stage: 'old',
  },
  {
    address: '/portal/account/app?do=setUp',
    heading: 'account-app-title',
    shows: 'account-proof-signIn',
    stage: 'old without password',
  },
  {
    address: '/portal/account/app?do=setUp&notice=passwordWrong',
    heading: 'account-app-title',
    shows: 'account-proof-password',
    stage: 'old',
  },
  { address: '/portal/account/recovery-codes', heading: 'account-recovery-codes-title', stage: 'account' },
  { address: '/portal/account/devices', heading: 'account-devices-title', stage: 'account' },
  { address: '/portal/account/sessions', heading: 'account-sessions-title', stage: 'account' },
  { address: '/portal/account/sign-ins', heading: 'account-sign-ins-title', stage: 'account' },
  { address: '/portal/singleSignOn', heading: 'sso-title' },
  { address: '/portal/singleSignOn?notice=useSingleSignOn', heading: 'sso-title' },
  { address: '/portal/singleSignOn?notice=cookiesNeeded', heading: 'sso-title' },
  { address: '/portal/singleSignOn?notice=chooseConnection', heading: 'sso-title', stage: 'choice' },
  { address: '/portal/logout?confirm=', heading: 'sign-out-title', stage: 'account' },
  { address: '/portal/login?notice=tooManyCodes', heading: 'login-title' },
  { address: '/portal/login?notice=entryMissing', heading: 'login-title' },
  { address: '/portal/login?notice=entryTooLong', heading: 'login-title' },
  { address: '/portal/login?notice=signOutIncomplete', heading: 'login-title' },
  { address: '/portal/loginfail/default', heading: 'login-fail-default-title' },
  { address: '/portal/loginfail/oidc', heading: 'login-fail-oidc-title' },
  { address: '/portal/loginfail/oidc?notice=signInCancelled', heading: 'login-fail-oidc-title' },
  { address: '/portal/loginfail/saml', heading: 'login-fail-saml-title' },
  { address: '/portal/loginfail/ip?ipaddress=2001:db8::7', heading: 'login-fail-ip-title' },
  { address: '/portal/loginfail/ip', heading: 'login-fail-ip-title' },
  { address: '/portal/loginfail/passkey', heading: 'login-fail-passkey-title' },
  { address: '/portal/no/such/page', heading: 'not-found-title', status: 404, needs: notThere },
];

/** An address with one more query parameter. */
export function withQuery(address: string, query: string): string {
  return address + (address.includes('?') ? '&' : '?') + query;
}
