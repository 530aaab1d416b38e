/** Headers by which the answer to a code says more than `true` or `false`; for our own script. */
export const codeAnswerHeaders = {
  /** On `false`: by how many seconds the clock of the device that showed the code seems to be ahead; negative is behind. */
  clockOffset: 'vestibule-clock-offset',
  /** On `false` to the last code that is looked at: the notice of the sign-in form, `tooManyAttempts`. */
  notice: 'vestibule-notice',
  /** On `true`: the page to show before the destination; the value is `recoveryCodes`. */
  next: 'vestibule-next',
} as const;
