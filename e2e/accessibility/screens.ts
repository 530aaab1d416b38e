import type { AccountSection } from '#contract/account.ts';
import type { ServerPage } from '#contract/page.ts';
import type { PlainScreen } from '#contract/screens.ts';

/** What a criterion may need a screen to have. */
export type Trait =
  /** Fields to fill in. */
  | 'fields'
  /** Fields about the person: name, email, password. */
  | 'personal'
  /** A step of proving who one is. */
  | 'proof'
  /** Content that only a picture shows, with its text beside it. */
  | 'picture'
  /** Something that ends after a time; time-limits.ts has them. */
  | 'timed'
  /** Results that appear without a new page. */
  | 'status'
  /** Changes what is stored of the person. */
  | 'change'
  /** Something that turns or counts while the person waits. */
  | 'moving';

export type ReportedScreen = { what: string; traits: readonly Trait[] };
export type ScreenName = PlainScreen | 'loginFail' | 'notFound' | ServerPage['name'] | `account.${AccountSection}`;

/** Every screen of the product: a screen without an entry does not compile. */
export const reportedScreens: Record<ScreenName, ReportedScreen> = {
  login: { what: 'Sign in', traits: ['fields', 'personal', 'proof', 'status', 'moving', 'timed'] },
  loginFail: {
    what: 'Sign-in failed: password, network, OpenID Connect, SAML',
    traits: ['fields', 'personal', 'proof', 'status', 'moving', 'timed'],
  },
  singleSignOn: {
    what: 'Single sign-on by work email',
    traits: ['fields', 'personal', 'proof', 'status', 'moving', 'timed'],
  },
  forgotten: { what: 'Reset your password', traits: ['fields', 'personal', 'status', 'moving', 'timed'] },
  emailInfo: { what: 'Check your inbox', traits: ['status', 'timed'] },
  forgottenChange: {
    what: 'Choose a new password',
    traits: ['fields', 'personal', 'status', 'change', 'moving', 'timed'],
  },
  forgottenChangedInfo: { what: 'Password changed', traits: ['status'] },
  forgottenChangeFailedInfo: { what: 'Password not changed', traits: ['status', 'timed'] },
  twoFactor: {
    what: 'Enter your code: of an app, from an email, or a recovery code',
    traits: ['fields', 'personal', 'proof', 'status', 'moving', 'timed'],
  },
  twoFactorRegistration: {
    what: 'Set up two-step verification',
    traits: ['fields', 'personal', 'proof', 'picture', 'status', 'change', 'moving', 'timed'],
  },
  recoveryCodes: { what: 'Recovery codes', traits: ['status', 'timed'] },
  signInOnceMore: { what: 'Sign in once more to set up an app', traits: ['status', 'moving', 'timed'] },
  registerElsewhere: { what: 'An app cannot be set up by this sign-in', traits: ['status', 'moving'] },
  providerBegan: { what: 'A provider began a sign-in', traits: ['proof', 'status', 'moving'] },
  otherAccount: { what: 'Is this your account?', traits: ['proof', 'status', 'moving', 'timed'] },
  leaving: { what: 'Opening your company’s sign-in page', traits: ['status', 'moving', 'timed'] },
  oneMoment: { what: 'One moment…', traits: ['status', 'moving', 'timed'] },
  signedIn: { what: 'You’re signed in, where there is no hub', traits: ['status', 'moving', 'timed'] },
  signOutConfirm: { what: 'Sign out?', traits: ['status', 'moving'] },
  notForYou: { what: 'You don’t have access', traits: ['status', 'moving'] },
  problem: { what: 'A request was refused, or failed', traits: ['status'] },
  notFound: { what: 'Page not found', traits: ['status'] },
  'account.overview': { what: 'Your account, with its language', traits: ['fields', 'status', 'change', 'timed'] },
  'account.password': {
    what: 'Your account: the password',
    traits: ['fields', 'personal', 'proof', 'status', 'change', 'timed'],
  },
  'account.passkeys': {
    what: 'Your account: passkeys; add, rename, remove',
    traits: ['fields', 'personal', 'proof', 'status', 'change', 'timed'],
  },
  'account.app': {
    what: 'Your account: the authenticator app; set up, replace, remove',
    traits: ['fields', 'personal', 'proof', 'picture', 'status', 'change', 'timed'],
  },
  'account.recoveryCodes': {
    what: 'Your account: recovery codes',
    traits: ['fields', 'personal', 'proof', 'status', 'change', 'timed'],
  },
  'account.devices': { what: 'Your account: devices that aren’t asked', traits: ['status', 'change', 'timed'] },
  'account.sessions': { what: 'Your account: where you’re signed in', traits: ['status', 'change', 'timed'] },
  'account.signIns': { what: 'Your account: recent sign-ins', traits: ['timed'] },
};

/** The screens that have all of some traits. */
export function screensWith(...traits: Trait[]): ScreenName[] {
  const names = Object.keys(reportedScreens) as ScreenName[];
  return names.filter((name) => traits.every((trait) => reportedScreens[name].traits.includes(trait)));
}
