export type SecondFactor = 'app' | 'email';

/** What a sign-in still needs after a password or a provider; `passkey`: one of the user's, in place of a first app. */
export type Asked = 'email' | 'app' | 'passkey';

/** What a half session waits for: a code, or the registration that comes before the first one. */
export type OpenFactor = { factor: SecondFactor; mustRegister: boolean };
