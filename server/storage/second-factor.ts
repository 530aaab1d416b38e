export type SecondFactor = 'app' | 'email';

/** What a half session waits for: a code, or the registration that comes before the first one. */
export type OpenFactor = { factor: SecondFactor; mustRegister: boolean };
