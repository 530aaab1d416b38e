import type { AuditStep } from '../audit/audit-events.ts';
import { foldLoginName } from '../names/fold-name.ts';
import type { Connection } from '../storage/database.ts';
import { isDeviceOf } from '../storage/device.ts';
import { foldsOfUser } from '../storage/names-of-user.ts';
import type { SsoConnection } from '../storage/sso-connection.ts';
import type { SsoUser } from '../storage/sso-user.ts';
import type { Visitor } from '../visitor/visitor.ts';
import type { Identity } from './identity.ts';
import { verifiedEmail } from './verified-email.ts';

/**
 * Why an answer may be somebody else's, such as whoever is still signed in at the provider, or has copied the visit's address
 * there: what was typed is none of the user's names, nor the address that the provider vouches for; or nothing was typed, and
 * the user has never signed in in this browser. Null if it is not so (docs/decisions/0029).
 */
export async function doubtAboutUser(
  sql: Connection,
  user: SsoUser,
  {
    typed,
    providerBegan,
    connection,
    identity,
  }: { typed: string | null; providerBegan: boolean; connection: SsoConnection; identity: Identity },
  { deviceToken }: Visitor,
): Promise<AuditStep | null> {
  const told = verifiedEmail(connection, identity);
  const own = [...foldsOfUser(user), ...(told.kind === 'ok' ? [told.fold] : [])];
  if (typed !== null) {
    if (own.includes(foldLoginName(typed))) return null;
    return { step: 'this visit', outcome: 'another address was typed' };
  }
  // A page has asked already, in a browser where nobody has signed in.
  if (providerBegan && deviceToken === null) return null;
  if (await isDeviceOf(sql, deviceToken, user.id)) return null;
  return { step: 'this browser', outcome: 'new to the user, and no address was typed' };
}
