/** Why a password change failed, specification §8; each number has its text `changed-failed-page-error-N`. */
export const changeFailedReasons = {
  tooWeak: 1,
  userNotFound: 2,
  requestExpired: 3,
  changeFailed: 4,
  passwordsDiffer: 5,
  invalidPassword: 6,
  inactiveUser: 7,
  missingPermissions: 8,
  criteriaNotMet: 9,
  noCustomer: 10,
  usedBefore: 11,
} as const;

export type ChangeFailedReason = (typeof changeFailedReasons)[keyof typeof changeFailedReasons];

/** The reason in a query: the parameter `reason`, or a bare number first (specification §2); null if it is none. */
export function reasonOfSearch(search: string): ChangeFailedReason | null {
  const text = new URLSearchParams(search).get('reason') ?? /^\??(\d+)(?:=?(?:&|$))/.exec(search)?.[1] ?? '';
  return Object.values(changeFailedReasons).find((reason) => /^\d{1,2}$/.test(text) && reason === Number(text)) ?? null;
}

/** Why a sign-in failed, as far as the visitor may know: the last segment of `/loginfail/:type`. */
export const loginFailTypes = ['default', 'ip', 'oidc', 'saml', 'passkey'] as const;
export type LoginFailType = (typeof loginFailTypes)[number];

/** The type that a path segment names; `default` if it is not in the list (specification §2). */
export function loginFailTypeOf(text: string): LoginFailType {
  return loginFailTypes.find((type) => type === text) ?? 'default';
}
