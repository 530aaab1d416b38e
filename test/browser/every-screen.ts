import type { BrowserContext } from '@playwright/test';
import { keptPasskey } from './portal-database.ts';
import type { Stage } from './stages.ts';
import type { MessageKey } from './texts.ts';

/**
 * Every screen of specification §2 in each of its states: its address and heading, how far a sign-in must have come to show it,
 * and a text that no other step under that heading has.
 */
const rows: [address: string, heading: MessageKey, stage?: Stage, shows?: MessageKey][] = [
  ['/portal/', 'login-title'],
  ['/portal/login', 'login-title'],
  ['/portal/login?login=ada', 'login-title'],
  ['/portal/login?notice=signInExpired', 'login-title'],
  ['/portal/forgotten', 'forgotten-title'],
  ['/portal/forgotten?notice=tooManyAttempts', 'forgotten-title'],
  ['/portal/emailInfo', 'email-info-title'],
  ['/portal/forgottenChange', 'change-title'],
  ['/portal/forgottenChange?hash=of-a-mail', 'change-title'],
  ['/portal/forgottenChange?hash=of-a-mail&reason=1', 'change-title'],
  ['/portal/forgottenChange?hash=of-a-mail&invited=true', 'invitation-title'],
  ['/portal/forgottenChangedInfo', 'changed-title'],
  ['/portal/forgottenChangeFailedInfo', 'change-failed-title'],
  ['/portal/forgottenChangeFailedInfo?reason=3', 'change-failed-title'],
  ['/portal/forgottenChangeFailedInfo?reason=3&invited=true', 'invitation-failed-title'],
  ['/portal/twoFactor', 'twofa-title', 'app'],
  ['/portal/twoFactor?notice=codeWrong', 'twofa-title', 'app'],
  ['/portal/twoFactor?recovery=true', 'recovery-title', 'app'],
  ['/portal/twoFactor?codeSentViaEmail=true', 'twofa-email-title', 'email'],
  ['/portal/twoFactor?codeSentViaEmail=true&notice=codeNotSent', 'twofa-email-title', 'email'],
  ['/portal/twoFactorRegistration', 'registration-title', 'new app'],
  ['/portal/twoFactorRegistration?redirectURL=%2Fportal%2Fx', 'once-more-title', 'old'],
  ['/portal/twoFactorRegistration?redirectURL=%2Fx', 'register-elsewhere-title', 'elsewhere'],
  ['/portal/twoFactorRegistration?codeSentViaEmail=true', 'registration-email-title', 'new email'],
  ['/portal/two-factor-authentication/recovery-codes', 'recovery-codes-title', 'recovery codes'],
  ['/portal/account', 'account-title', 'account'],
  ['/portal/account/password', 'account-password-title', 'account'],
  ['/portal/account/password?notice=passwordRefused&reason=9', 'account-password-title', 'account'],
  ['/portal/account/passkeys', 'account-passkeys-title', 'account'],
  ['/portal/account/passkeys?do=enrol', 'account-passkeys-title', 'account'],
  [
    `/portal/account/passkeys?do=rename&id=${keptPasskey}`,
    'account-passkeys-title',
    'account',
    'account-passkeys-name',
  ],
  [
    `/portal/account/passkeys?do=remove&id=${keptPasskey}`,
    'account-passkeys-title',
    'account',
    'account-passkeys-remove',
  ],
  ['/portal/account/app', 'account-app-title', 'account'],
  ['/portal/account/app?do=replace', 'account-app-title', 'account', 'account-app-replace-text'],
  ['/portal/account/app?do=replace&notice=codeWrong', 'account-app-title', 'account', 'registration-scan'],
  ['/portal/account/app?do=remove', 'account-app-title', 'account', 'account-app-remove-text'],
  ['/portal/account/app?notice=appRemoved', 'account-app-title', 'old', 'account-app-button-set-up'],
  ['/portal/account/app?do=setUp&notice=passwordWrong', 'account-app-title', 'old', 'account-proof-password'],
  ['/portal/account/recovery-codes', 'account-recovery-codes-title', 'account'],
  ['/portal/account/devices', 'account-devices-title', 'account'],
  ['/portal/account/sessions', 'account-sessions-title', 'account'],
  ['/portal/account/sign-ins', 'account-sign-ins-title', 'account'],
  ['/portal/singleSignOn', 'sso-title'],
  ['/portal/singleSignOn?notice=useSingleSignOn', 'sso-title'],
  ['/portal/singleSignOn?notice=chooseConnection', 'sso-title', 'choice'],
  ['/portal/logout?confirm=', 'sign-out-title', 'account'],
  ['/portal/portal.html', 'signed-in-title', 'signed in'],
  ['/portal/loginfail/default', 'login-fail-default-title'],
  ['/portal/loginfail/oidc', 'login-fail-oidc-title'],
  ['/portal/loginfail/oidc?notice=signInCancelled', 'notice-signInCancelled-title'],
  ['/portal/loginfail/saml?notice=providerSilent', 'notice-providerSilent-title'],
  ['/portal/loginfail/saml', 'login-fail-saml-title'],
  ['/portal/loginfail/ip?ipaddress=2001:db8::7', 'login-fail-ip-title'],
  ['/portal/loginfail/passkey', 'login-fail-passkey-title'],
  ['/portal/no/such/page', 'not-found-title'],
];

export const everyScreen = rows.map(([address, heading, stage, shows]) => ({ address, heading, stage, shows }));

/** An address with one more query parameter. */
export function withQuery(address: string, query: string): string {
  return address + (address.includes('?') ? '&' : '?') + query;
}

/** Opens addresses with a notice of the account page as if our own page had led there: it shows none to anybody else. */
export async function comeFromOwnPage(context: BrowserContext): Promise<void> {
  await context.route(/\/portal\/account\b.*[?&]notice=/, async (route) => {
    const headers = { ...(await route.request().allHeaders()), 'sec-fetch-site': 'same-origin' };
    await route.fulfill({ response: await route.fetch({ headers }) });
  });
}
