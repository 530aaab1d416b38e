/**
 * The query parameter of the pages of an invitation, which the server words for somebody who cannot sign in yet
 * (docs/decisions/0013). It says nothing else: what a link may do is stored with it.
 */
export const invitedParameter = 'invited';

/** What an invitation is for: a password or, with a script, a passkey; a password; a passkey. */
export type InvitedFor = 'choice' | 'password' | 'passkey';

/** As the address says it: in whose words a page is. */
export const invitedValues = {
  choice: 'true',
  password: 'true',
  passkey: 'passkey',
} as const satisfies Record<InvitedFor, string>;

/** What the value of the parameter says; null without one. */
export function invitedFor(value: string | null): InvitedFor | null {
  if (value === null) return null;
  return value === 'passkey' ? value : 'choice';
}
