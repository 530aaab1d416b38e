import type { XStatic as Static } from 'typebox/schema';
import { longestCodeText } from './codes.ts';

/** Longest accepted username or email, in Unicode code points (RFC 5321 §4.5.3.1.3 allows an address of 254). */
export const longestUsername = 320;

/** Longest accepted sign-in password, in Unicode code points: four times the longest that can be set. */
export const longestPasswordInput = 288;

const text = { type: 'string' } as const;
const username = { type: 'string', minLength: 1, maxLength: longestUsername } as const;

/** `POST performlogin` */
export const LoginForm = {
  type: 'object',
  required: ['username', 'password'],
  properties: {
    username,
    password: { type: 'string', minLength: 1, maxLength: longestPasswordInput },
    redirectURL: text,
  },
} as const;
export type LoginForm = Static<typeof LoginForm>;

/** `POST passkeys/sign-in` and `POST passkeys/second-factor`; `credential` is the authenticator's answer as JSON. */
export const PasskeyForm = {
  type: 'object',
  required: ['credential'],
  properties: { credential: text, redirectURL: text },
} as const;
export type PasskeyForm = Static<typeof PasskeyForm>;

/** `POST authenticate/checkSsoLogin`; `username`: what was typed on the sign-in form whose button it is. */
export const CheckSsoForm = { type: 'object', properties: { redirectURLSSO: text, username: text } } as const;
export type CheckSsoForm = Static<typeof CheckSsoForm>;

/** `POST authenticate/performSsoLogin`; `connection` is the key of the chosen one if a domain has several. */
export const PerformSsoForm = {
  type: 'object',
  required: ['username'],
  properties: { username, redirectURL: text, connection: { type: 'string', maxLength: 63 } },
} as const;
export type PerformSsoForm = Static<typeof PerformSsoForm>;

/** `POST authenticate/oidc/backchannel-logout/<connection>` (OpenID Connect Back-Channel Logout §2.5). */
export const BackchannelLogoutForm = {
  type: 'object',
  required: ['logout_token'],
  properties: { logout_token: { type: 'string', minLength: 1 } },
} as const;
export type BackchannelLogoutForm = Static<typeof BackchannelLogoutForm>;

/** Not empty; avoids `minLength`, which counts a long value character by character (SA-43). */
const samlMessage = { type: 'string', pattern: '^.' } as const;

/** `POST authenticate/saml/acs`: what a SAML provider has the browser post (SAML bindings §3.5.4). */
export const SamlForm = {
  type: 'object',
  required: ['SAMLResponse'],
  properties: { SAMLResponse: samlMessage, RelayState: text },
} as const;
export type SamlForm = Static<typeof SamlForm>;

/** `POST authenticate/saml/logout`: exactly one of the two (SAML bindings §3.5.4). */
export const SamlLogoutForm = {
  type: 'object',
  properties: { SAMLRequest: samlMessage, SAMLResponse: samlMessage, RelayState: text },
} as const;
export type SamlLogoutForm = Static<typeof SamlLogoutForm>;

/** `POST password/forgotten` */
export const ForgottenForm = { type: 'object', required: ['username'], properties: { username } } as const;
export type ForgottenForm = Static<typeof ForgottenForm>;

/** `POST password/change`: invalid entries are answered with a reason, so their length is not limited here. */
export const ChangeForm = {
  type: 'object',
  required: ['password', 'repeat'],
  properties: { password: text, repeat: text, hash: text },
} as const;
export type ChangeForm = Static<typeof ChangeForm>;

/** `GET session`; the times are in ISO 8601. */
export type SessionAnswer = {
  username: string;
  email: string;
  name: string | null;
  language: string | null;
  customers: string[];
  /** Each with its customer's key, such as `acme:finance`. */
  groups: string[];
  signedInAt: string;
  expiresAt: string;
};

/** `GET two-factor-authentication/registration`: `url` is an image data URI of the QR code, `totpSecret` is base32. */
export type RegistrationAnswer = { url: string; totpSecret: string };

/** `POST two-factor-authentication/verify` as a form, without JavaScript; a script sends the code as a JSON string. */
export const VerifyForm = {
  type: 'object',
  required: ['code'],
  properties: {
    code: { type: 'string', maxLength: longestCodeText },
    redirectURL: text,
    codeSentViaEmail: text,
    remember: text,
    /** Set by the recovery code form. */
    recovery: text,
  },
} as const;
export type VerifyForm = Static<typeof VerifyForm>;

/** `POST two-factor-authentication/send` as a form, without JavaScript. */
export const SendForm = {
  type: 'object',
  properties: { redirectURL: text, codeSentViaEmail: text },
} as const;
export type SendForm = Static<typeof SendForm>;

/** An error answer to a script, RFC 9457. */
export type Problem = {
  type: 'about:blank';
  title: string;
  status: number;
  detail?: string;
  /** The invalid input, if any. */
  field?: string;
  /** The notice that the next page should show. */
  notice?: string;
};

/** Headers that add detail to the `true` or `false` answer to a code, for our own script. */
export const codeAnswerHeaders = {
  /** `tooManyCodes` on `false` for the last code; `signInTooOld` on 409, which alone may be another backend's. */
  notice: 'vestibule-notice',
  /** On `true`: what comes before the destination: the page `recoveryCodes`, or the `registration` of an app. */
  next: 'vestibule-next',
} as const;
