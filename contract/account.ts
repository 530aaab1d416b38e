/** The sections of the account page, with their paths below `/account`. */
export const accountSections = {
  overview: '',
  password: '/password',
  passkeys: '/passkeys',
  app: '/app',
  recoveryCodes: '/recovery-codes',
  devices: '/devices',
  sessions: '/sessions',
  signIns: '/sign-ins',
} as const;

export type AccountSection = keyof typeof accountSections;

/** Of the account page, below the base path. */
export const accountPath = '/account';

/** The fields that every form of the account page has: the session whose page it is on, and what it does. */
export const accountFields = { sessionId: 'session', action: 'do', begun: 'for' } as const;

/** The section that a path below the base path names; null if it is none. One trailing slash does not matter. */
export function accountSectionOf(below: string): AccountSection | null {
  if (below !== accountPath && !below.startsWith(`${accountPath}/`)) return null;
  const path = below.slice(accountPath.length).replace(/\/$/, '');
  const names = Object.keys(accountSections) as AccountSection[];
  return names.find((name) => accountSections[name] === path) ?? null;
}

/** The address of a section with its query; undefined values are omitted. */
export function accountUrl(
  basePath: string,
  section: AccountSection,
  query: Record<string, string | undefined> = {},
): string {
  const path = basePath + accountPath + accountSections[section];
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}
