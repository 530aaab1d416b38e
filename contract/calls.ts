/** The calls between browser and server, specification §7 and decisions §6; paths are below the base path. */
export const calls = {
  performLogin: { method: 'POST', path: '/performlogin' },
  checkSsoLogin: { method: 'POST', path: '/authenticate/checkSsoLogin' },
  performSsoLogin: { method: 'POST', path: '/authenticate/performSsoLogin' },
  /** Leads on to a provider, so that the form's post itself stays on our origin. */
  ssoLeave: { method: 'GET', path: '/authenticate/leave' },
  /** Below it is one for each connection, named by its key. */
  oidcCallback: { method: 'GET', path: '/authenticate/oidc/callback' },
  oidcKeys: { method: 'GET', path: '/authenticate/oidc/keys' },
  /** Each connection has its own, with its key as one more part of the path. */
  oidcBackchannelLogout: { method: 'POST', path: '/authenticate/oidc/backchannel-logout' },
  samlAnswer: { method: 'POST', path: '/authenticate/saml/acs' },
  /** Where an answer that came without cookies meets the browser that began. */
  samlFinish: { method: 'GET', path: '/authenticate/saml/finish' },
  /** Where an answer that failed without cookies meets the browser that began, and gives back what it typed. */
  samlFailed: { method: 'GET', path: '/authenticate/saml/failed' },
  /** Where an answer leads that nobody here asked for: a page that asks, and its button. */
  providerBegan: { method: 'GET', path: '/authenticate/continue' },
  continueWithProvider: { method: 'POST', path: '/authenticate/continue' },
  /** A provider's answer that would sign in somebody else than the browser expects: a page that asks, and its button. */
  otherAccount: { method: 'GET', path: '/authenticate/other-account' },
  goOnAsOther: { method: 'POST', path: '/authenticate/other-account' },
  /** Single logout: requests of providers, and their answers to ours, by either method. */
  samlLogout: { method: 'GET', path: '/authenticate/saml/logout' },
  samlLogoutPosted: { method: 'POST', path: '/authenticate/saml/logout' },
  /** Where what a provider answered meets the browser that signed out. */
  samlLoggedOut: { method: 'GET', path: '/authenticate/saml/logged-out' },
  samlMetadata: { method: 'GET', path: '/authenticate/saml/metadata' },
  passwordForgotten: { method: 'POST', path: '/password/forgotten' },
  passwordChange: { method: 'POST', path: '/password/change' },
  twoFactorRegistration: { method: 'GET', path: '/two-factor-authentication/registration' },
  twoFactorVerify: { method: 'POST', path: '/two-factor-authentication/verify' },
  twoFactorSend: { method: 'POST', path: '/two-factor-authentication/send' },
  twoFactorRecoveryCodes: { method: 'GET', path: '/two-factor-authentication/recovery-codes' },
  logout: { method: 'GET', path: '/logout' },
  logoutConfirmed: { method: 'POST', path: '/logout' },
  session: { method: 'GET', path: '/session' },
} as const;

export type Call = keyof typeof calls;

/** Whether a path, as it is below the base path, is one of a call. */
export function isPathOfCall(call: Call, below: string): boolean {
  const { path } = calls[call];
  return below === path || (call === 'oidcCallback' && below.startsWith(`${path}/`));
}

/** The address of a call. */
export function callUrl(basePath: string, call: Call): string {
  return basePath + calls[call].path;
}
