import { foldLoginName } from '../names/fold-name.ts';
import type { Connection } from '../storage/database.ts';
import { isPasskeyRequired } from '../storage/passkey-policy.ts';
import { findUser } from '../storage/portal-user.ts';
import { printWarning } from './print.ts';

/** Warns, after a change of a user, if no password signs them in because a customer takes passkeys only; whether it did. */
export async function warnOfPasskeysOnly(sql: Connection, name: string): Promise<boolean> {
  const user = await findUser(sql, foldLoginName(name));
  if (!user || !(await isPasskeyRequired(sql, user.id))) return false;
  const { username, passkeys } = user;
  printWarning(
    passkeys > 0
      ? `A customer of ${username} takes passkeys only: no password signs them in.`
      : `A customer of ${username} takes passkeys only: no password signs them in, and they have no passkey. To have them make one by email: vestibule user invite ${username}`,
  );
  return true;
}
