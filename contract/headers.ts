/** Headers that add detail to the `true` or `false` answer to a code, for our own script. */
export const codeAnswerHeaders = {
  /** On `false`: estimated seconds by which the clock of the authenticator is ahead; negative if behind. */
  clockOffset: 'vestibule-clock-offset',
  /**
   * On `false` for the last code that is checked: the notice for the sign-in form, `tooManyCodes`. On 409: `signInTooOld`;
   * without it, the 409 is another backend's and means nothing but a failed call.
   */
  notice: 'vestibule-notice',
  /** On `true`: what comes before the destination: the page `recoveryCodes`, or the `registration` of an app. */
  next: 'vestibule-next',
} as const;

/**
 * The name of an account, encoded as in a URL: of the answer with what an app needs, the one that it is for; of a call from a
 * second-factor page, the one whose page it is.
 */
export const accountHeader = 'vestibule-account';

/** Of a call that checks a code: an earlier one may have been checked, and the script has not heard of it. */
export const againHeader = 'vestibule-again';
