export type SecondFactor = 'app' | 'email';

/**
 * What a sign-in has proven as its second factor: `remembered` if its browser skipped the code, or if its code counts no
 * longer, since the user's email was replaced.
 */
export type Proven = 'none' | 'remembered' | 'code';

/** What a half session waits for: a code, or the registration that comes before the first one. */
export type OpenFactor = { factor: SecondFactor; mustRegister: boolean };
