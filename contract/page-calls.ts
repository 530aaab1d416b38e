/** The calls that pages make themselves; browsers load no others. Paths are relative to the base path. */
export const pageCalls = {
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
  /** The same in place of a code. */
  passkeyFactorOptions: { method: 'POST', path: '/passkeys/second-factor/options' },
  passkeyFactor: { method: 'POST', path: '/passkeys/second-factor' },
  /** The passkey of an invitation; what its browser needs for it is below, at `/options`. */
  passkeyInvitation: { method: 'POST', path: '/passkeys/invitation' },
  logout: { method: 'GET', path: '/logout' },
  logoutConfirmed: { method: 'POST', path: '/logout' },
} as const;

export type PageCall = keyof typeof pageCalls;

/** Returns the address of a call that pages make. */
export function pageCallUrl(basePath: string, call: PageCall): string {
  return basePath + pageCalls[call].path;
}
