import Type, { type Static } from 'typebox';

/** Longest accepted username or email, in Unicode code points (RFC 5321 §4.5.3.1.3 allows an address of 254). */
export const longestUsername = 320;

/** Longest accepted sign-in password, in Unicode code points: four times the longest that can be set. */
export const longestPasswordInput = 288;

/** `POST performlogin` */
export const LoginForm = Type.Object({
  username: Type.String({ minLength: 1, maxLength: longestUsername }),
  password: Type.String({ minLength: 1, maxLength: longestPasswordInput }),
  redirectURL: Type.Optional(Type.String()),
});
export type LoginForm = Static<typeof LoginForm>;

/** `POST authenticate/checkSsoLogin` */
export const CheckSsoForm = Type.Object({ redirectURLSSO: Type.Optional(Type.String()) });
export type CheckSsoForm = Static<typeof CheckSsoForm>;

/** `POST authenticate/performSsoLogin`; `connection` is the key of the chosen one if a domain has several. */
export const PerformSsoForm = Type.Object({
  username: Type.String({ minLength: 1, maxLength: longestUsername }),
  redirectURL: Type.Optional(Type.String()),
  connection: Type.Optional(Type.String({ maxLength: 63 })),
});
export type PerformSsoForm = Static<typeof PerformSsoForm>;

/** `POST authenticate/continue`; `connection` is the key of the one whose provider started the sign-in. */
export const ProviderBeganForm = Type.Object({ connection: Type.String({ minLength: 1, maxLength: 63 }) });
export type ProviderBeganForm = Static<typeof ProviderBeganForm>;

/** `POST authenticate/other-account`; `request` is the id of the visit whose answer waits. */
export const OtherAccountForm = Type.Object({ request: Type.String({ minLength: 36, maxLength: 36 }) });
export type OtherAccountForm = Static<typeof OtherAccountForm>;

/** `POST authenticate/oidc/backchannel-logout/<connection>` (OpenID Connect Back-Channel Logout §2.5). */
export const BackchannelLogoutForm = Type.Object({ logout_token: Type.String({ minLength: 1 }) });
export type BackchannelLogoutForm = Static<typeof BackchannelLogoutForm>;

/** Not empty; avoids `minLength`, which counts a long value character by character (SA-43). */
const SamlMessage = Type.String({ pattern: '^.' });

/** `POST authenticate/saml/acs`: what a SAML provider has the browser post (SAML bindings §3.5.4). */
export const SamlForm = Type.Object({
  SAMLResponse: SamlMessage,
  RelayState: Type.Optional(Type.String()),
});
export type SamlForm = Static<typeof SamlForm>;

/** `POST authenticate/saml/logout`: exactly one of the two (SAML bindings §3.5.4). */
export const SamlLogoutForm = Type.Object({
  SAMLRequest: Type.Optional(SamlMessage),
  SAMLResponse: Type.Optional(SamlMessage),
  RelayState: Type.Optional(Type.String()),
});
export type SamlLogoutForm = Static<typeof SamlLogoutForm>;

/** `POST password/forgotten` */
export const ForgottenForm = Type.Object({
  username: Type.String({ minLength: 1, maxLength: longestUsername }),
});
export type ForgottenForm = Static<typeof ForgottenForm>;

/** `POST password/change`: invalid entries are answered with a reason, so their length is not limited here. */
export const ChangeForm = Type.Object({
  password: Type.String(),
  repeat: Type.String(),
  hash: Type.Optional(Type.String()),
});
export type ChangeForm = Static<typeof ChangeForm>;

/** `GET session` */
export const SessionAnswer = Type.Object({
  username: Type.String(),
  email: Type.String(),
  language: Type.Union([Type.String(), Type.Null()]),
  customers: Type.Array(Type.String()),
  signedInAt: Type.String(),
  expiresAt: Type.String(),
});
export type SessionAnswer = Static<typeof SessionAnswer>;

/** `GET two-factor-authentication/registration`: `url` is an image data URI of the QR code, `totpSecret` is base32. */
export const RegistrationAnswer = Type.Object({ url: Type.String(), totpSecret: Type.String() });
export type RegistrationAnswer = Static<typeof RegistrationAnswer>;

/** `POST two-factor-authentication/verify` as a form, without JavaScript; a script sends the code as a JSON string. */
export const VerifyForm = Type.Object({
  code: Type.String({ maxLength: 40 }),
  redirectURL: Type.Optional(Type.String()),
  codeSentViaEmail: Type.Optional(Type.String()),
  remember: Type.Optional(Type.String()),
  /** Set by the recovery code form. */
  recovery: Type.Optional(Type.String()),
});
export type VerifyForm = Static<typeof VerifyForm>;

/** `POST two-factor-authentication/send` as a form, without JavaScript. */
export const SendForm = Type.Object({
  redirectURL: Type.Optional(Type.String()),
  codeSentViaEmail: Type.Optional(Type.String()),
});
export type SendForm = Static<typeof SendForm>;

/** An error answer to a script, RFC 9457. `field` names the invalid input, if any. */
export const Problem = Type.Object({
  type: Type.Literal('about:blank'),
  title: Type.String(),
  status: Type.Integer(),
  detail: Type.Optional(Type.String()),
  field: Type.Optional(Type.String()),
  /** The notice that the next page should show. */
  notice: Type.Optional(Type.String()),
});
export type Problem = Static<typeof Problem>;
