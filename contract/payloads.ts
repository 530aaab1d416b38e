import { longestCodeText } from './codes.ts';

/** Longest accepted username or email, in Unicode code points (RFC 5321 §4.5.3.1.3 allows an address of 254). */
export const longestUsername = 320;

/** Longest accepted sign-in password, in Unicode code points: four times the longest that can be set. */
export const longestPasswordInput = 288;

type TextRule = { type: 'string'; minLength?: number; maxLength?: number; pattern?: string };

/** The schema of a posted form: the fields that it must have, and those that it may have. All are texts. */
/* @__NO_SIDE_EFFECTS__: browsers load none of them. */
function form<Must extends string, May extends string>(must: Record<Must, TextRule>, may: Record<May, TextRule>) {
  const properties: Record<Must | May, TextRule> = { ...must, ...may };
  return { type: 'object', required: Object.keys(must) as Must[], properties } as const;
}

type Sent<Form extends { required: string[]; properties: object }> = Record<Form['required'][number], string> &
  Partial<Record<keyof Form['properties'], string>>;

const text: TextRule = { type: 'string' };
const username: TextRule = { type: 'string', minLength: 1, maxLength: longestUsername };
const password: TextRule = { type: 'string', minLength: 1, maxLength: longestPasswordInput };
/** Not empty; avoids `minLength`, which counts a long value character by character (SA-43). */
const samlMessage: TextRule = { type: 'string', pattern: '^.' };

export const LoginForm = form({ username, password }, { redirectURL: text });
export type LoginForm = Sent<typeof LoginForm>;

/** `POST passkeys/sign-in` and `POST passkeys/second-factor`; `credential` is the authenticator's answer as JSON. */
export const PasskeyForm = form({ credential: text }, { redirectURL: text });
export type PasskeyForm = Sent<typeof PasskeyForm>;

/** `POST authenticate/checkSsoLogin`; `username`: what was typed on the sign-in form whose button it is. */
export const CheckSsoForm = form({}, { redirectURLSSO: text, username: text });
export type CheckSsoForm = Sent<typeof CheckSsoForm>;

/** `POST authenticate/performSsoLogin`; `connection` is the key of the chosen one if a domain has several. */
export const PerformSsoForm = form({ username }, { redirectURL: text, connection: { type: 'string', maxLength: 63 } });
export type PerformSsoForm = Sent<typeof PerformSsoForm>;

/** `POST authenticate/oidc/backchannel-logout/<connection>` (OpenID Connect Back-Channel Logout §2.5). */
export const BackchannelLogoutForm = form({ logout_token: { type: 'string', minLength: 1 } }, {});
export type BackchannelLogoutForm = Sent<typeof BackchannelLogoutForm>;

/** `POST authenticate/saml/acs`: what a SAML provider has the browser post (SAML bindings §3.5.4). */
export const SamlForm = form({ SAMLResponse: samlMessage }, { RelayState: text });
export type SamlForm = Sent<typeof SamlForm>;

/** `POST authenticate/saml/logout`: exactly one of the two (SAML bindings §3.5.4). */
export const SamlLogoutForm = form({}, { SAMLRequest: samlMessage, SAMLResponse: samlMessage, RelayState: text });
export type SamlLogoutForm = Sent<typeof SamlLogoutForm>;

export const ForgottenForm = form({ username }, {});
export type ForgottenForm = Sent<typeof ForgottenForm>;

/** `POST password/change`: invalid entries are answered with a reason, so their length is not limited here. */
export const ChangeForm = form({ password: text, repeat: text }, { hash: text });
export type ChangeForm = Sent<typeof ChangeForm>;

/** What the forms of a second factor send besides; `recovery`: set by the form of a recovery code. */
const kept = { redirectURL: text, codeSentViaEmail: text, remember: text, recovery: text };

/** `POST two-factor-authentication/verify` as a form, without JavaScript; a script sends the code as a JSON string. */
export const VerifyForm = form({ code: { type: 'string', maxLength: longestCodeText } }, kept);
export type VerifyForm = Sent<typeof VerifyForm>;

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

/** An error answer to a script, RFC 9457. */
export type Problem = {
  type: 'about:blank';
  title: string;
  status: number;
  detail?: string;
  field?: string;
  notice?: string;
};

/** Headers that add detail to the `true` or `false` answer to a code, for our own script. */
export const codeAnswerHeaders = {
  /** `tooManyCodes` on `false` for the last code; `signInTooOld` on 409, which alone may be another backend's. */
  notice: 'vestibule-notice',
  /** On `true`: what comes before the destination: the page `recoveryCodes`, or the `registration` of an app. */
  next: 'vestibule-next',
} as const;
