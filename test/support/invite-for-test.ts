import { inviteUsers } from '#server/accounts/invite-users.ts';
import type { PortalForTest } from './portal-for-test.ts';
import { tokenIn } from './reset-for-test.ts';

/** Does what `vestibule user invite` does after parsing. */
export async function invite({ sql, deps }: PortalForTest, ...names: string[]) {
  return await inviteUsers(sql, { keys: deps.keys, rpId: deps.config.passkeys?.id ?? null }, names, deps.now());
}

/** Invites a user at acme.test; returns the token in the email. */
export async function invitationFor(portal: PortalForTest, username: string): Promise<string> {
  const result = await invite(portal, username);
  if (result.kind === 'refused') throw new Error(result.refusals[0]?.problem);
  await portal.workOff();
  return tokenIn(portal.mails.findLast(({ recipient }) => recipient === `${username}@acme.test`));
}
