import { hour, limits, minute, second } from '#server/limits.ts';
import type { TestKey } from './evidence.ts';

/** A time after which a person has to do something again (WCAG 2.2, 2.2.1). `length` in milliseconds. */
export type TimeLimit = {
  what: string;
  length: number;
  told: string;
  after: string;
  more: string;
  test: TestKey;
};

export const timeLimits: readonly TimeLimit[] = [
  {
    what: 'The link for a new password',
    length: limits.resetLink,
    told: 'in the email',
    after: 'the page says that the link has expired, before anything is typed',
    more: 'a new link, from the same page; the older ones stay valid for their time',
    test: 'expiredLink',
  },
  {
    what: 'An invitation to choose a first password or passkey',
    length: limits.invitation,
    told: 'in the email',
    after: 'the page says that the invitation has expired, before anything is typed',
    more: 'another invitation, or a link sent from the same page',
    test: 'expiredInvitation',
  },
  {
    what: 'From the password to the right code',
    length: limits.halfSession,
    told: 'with a code by email: in the email. With an app: not beforehand',
    after: 'the page says so; the name and the requested page are kept, nothing else was entered',
    more: 'a new sign-in. Essential: the proof of a password must not stay open on an unattended screen',
    test: 'lateCode',
  },
  {
    what: 'A code by email',
    length: limits.emailCode,
    told: 'in the email, to the end of the sign-in if that is sooner',
    after: 'the page asks for the code of the latest email',
    more: `“Send a new code”: ${limits.emailCodeSends} for one sign-in, ${limits.emailCodeSendEvery / second} seconds apart`,
    test: 'newCode',
  },
  {
    what: 'A code of an authenticator app',
    length: 30 * second,
    told: 'by the app, which counts down; the one before and the one after are accepted too',
    after: 'the page asks for the one that the app shows now',
    more: 'the app shows the next one. Essential: RFC 6238',
    test: 'lateCode',
  },
  {
    what: 'From a sign-in to setting up an app',
    length: limits.freshSignIn,
    told: 'by the page that is shown afterwards',
    after: 'the page says so and leads back to the same step',
    more: 'a new sign-in. Essential: a stolen session must not add an app',
    test: 'tooOld',
  },
  {
    what: 'From a proof on the account page to a change of the way in',
    length: limits.freshSignIn,
    told: 'where it is proven',
    after: 'the page asks again, where the change was begun; what was entered is kept, but for passwords and codes',
    more: 'another proof. Essential: an unattended browser must not change how somebody signs in',
    test: 'proofAgain',
  },
  {
    what: 'The question “Is this your account?”',
    length: limits.questionOfAnswer,
    told: 'by the page that is shown afterwards',
    after: 'the sign-in form; the requested page is kept',
    more: 'single sign-on again, usually without a password. Essential: the answer of the provider is not kept longer',
    test: 'question',
  },
  {
    what: 'A session that is not used (`session.idleMinutes`)',
    length: 30 * minute,
    told: 'by the hub: the portal’s own pages show no session that anything could be lost of',
    after: 'the sign-in form, which leads back to the requested page',
    more: 'any request of the hub starts it again; the operator can allow a day',
    test: 'idle',
  },
  {
    what: 'A session, however much it is used (`session.absoluteHours`)',
    length: 12 * hour,
    told: 'as above',
    after: 'as above',
    more: 'the operator can allow a week; beyond 20 hours WCAG asks for nothing. Essential otherwise',
    test: 'absolute',
  },
  {
    what: 'The wait after too many attempts, at most',
    length: limits.throttle.account.longestWait,
    told: 'on the page, with how long where that reveals nothing',
    after: 'the next attempt is accepted',
    more: 'nothing is lost by waiting',
    test: 'waits',
  },
];

/** A length in words, such as `10 minutes`. */
export function lengthInWords(length: number): string {
  const [unit, name] = length < minute ? [second, 'second'] : length < 2 * hour ? [minute, 'minute'] : [hour, 'hour'];
  return new Intl.NumberFormat('en-GB', { style: 'unit', unit: name, unitDisplay: 'long' }).format(length / unit);
}
