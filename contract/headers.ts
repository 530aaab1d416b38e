/** Headers that add detail to the `true` or `false` answer to a code, for our own script. */
export const codeAnswerHeaders = {
  /**
   * On `false` for the last code that is checked: the notice for the sign-in form, `tooManyCodes`. On 409: `signInTooOld`;
   * without it, the 409 is another backend's and means nothing but a failed call.
   */
  notice: 'vestibule-notice',
  /** On `true`: what comes before the destination: the page `recoveryCodes`, or the `registration` of an app. */
  next: 'vestibule-next',
} as const;
