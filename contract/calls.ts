/** The calls from browser to server; paths are relative to the base path. */
export const calls = {
  performLogin: { method: 'POST', path: '/performlogin' },
  checkSsoLogin: { method: 'POST', path: '/authenticate/checkSsoLogin' },
  performSsoLogin: { method: 'POST', path: '/authenticate/performSsoLogin' },
  passwordForgotten: { method: 'POST', path: '/password/forgotten' },
  passwordChange: { method: 'POST', path: '/password/change' },
  twoFactorRegistration: { method: 'GET', path: '/two-factor-authentication/registration' },
  twoFactorVerify: { method: 'POST', path: '/two-factor-authentication/verify' },
  twoFactorSend: { method: 'POST', path: '/two-factor-authentication/send' },
  twoFactorRecoveryCodes: { method: 'GET', path: '/two-factor-authentication/recovery-codes' },
  /** What a browser needs to sign in by passkey, and its answer. */
  passkeyOptions: { method: 'POST', path: '/passkeys/options' },
  passkeySignIn: { method: 'POST', path: '/passkeys/sign-in' },
  passkeyFactorOptions: { method: 'POST', path: '/passkeys/second-factor/options' },
  passkeyFactor: { method: 'POST', path: '/passkeys/second-factor' },
  logout: { method: 'GET', path: '/logout' },
  logoutConfirmed: { method: 'POST', path: '/logout' },
  /** What a browser needs to make a passkey, and to prove by one, on the account page; its forms post the answers. */
  passkeyEnrolOptions: { method: 'POST', path: '/passkeys/enrol/options' },
  /** Redirects to a provider, so that the form's own post stays on our origin. */
  ssoLeave: { method: 'GET', path: '/authenticate/leave' },
  /** Below it, each connection has its own path, named by its key. */
  oidcCallback: { method: 'GET', path: '/authenticate/oidc/callback' },
  oidcKeys: { method: 'GET', path: '/authenticate/oidc/keys' },
  /** Each connection has its own, with its key as an extra path segment. */
  oidcBackchannelLogout: { method: 'POST', path: '/authenticate/oidc/backchannel-logout' },
  samlAnswer: { method: 'POST', path: '/authenticate/saml/acs' },
  /** Where our own page posts a SAML answer on, so that it arrives with our cookies. */
  samlFinish: { method: 'POST', path: '/authenticate/saml/finish' },
  /** Single logout: providers' requests and their answers to ours, by either method. */
  samlLogout: { method: 'GET', path: '/authenticate/saml/logout' },
  samlLogoutPosted: { method: 'POST', path: '/authenticate/saml/logout' },
  samlMetadata: { method: 'GET', path: '/authenticate/saml/metadata' },
  session: { method: 'GET', path: '/session' },
} as const;

export type Call = keyof typeof calls;

export function callUrl(basePath: string, call: Call): string {
  return basePath + calls[call].path;
}
