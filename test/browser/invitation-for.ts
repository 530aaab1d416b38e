import { changeUser } from '#server/accounts/users.ts';
import type { MailInbox } from './mail-inbox.ts';
import { onDatabaseOf } from './portal-database.ts';
import type { PortalUnderTest } from './portal-under-test.ts';
import type { Person } from './test.ts';

/** Invites a user as one who has no password yet; returns the link from the email. */
export async function invitationFor(
  { portal, inbox }: { portal: PortalUnderTest; inbox: MailInbox },
  { username, email }: Person,
): Promise<string> {
  await onDatabaseOf(portal, (sql) => changeUser(sql, username, { passwordHash: null }, new Date()));
  await portal.mustRun(['user', 'invite', username]);
  return (await inbox.take(email, 'invitation')).link;
}
