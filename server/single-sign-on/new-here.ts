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
 * Why an answer may be somebody else's, brought here under an address that was copied at the provider: the user has never
 * signed in in this browser, and has typed none of their names, nor the address that the provider vouches for. Null if it is
 * not so (docs/decisions/0029).
 */
export async function newHere(
  sql: Connection,
  user: SsoUser,
  { typed, connection, identity }: { typed: string | null; connection: SsoConnection; identity: Identity },
  { deviceToken }: Visitor,
): Promise<AuditStep | null> {
  const told = verifiedEmail(connection, identity);
  const own = [...foldsOfUser(user), ...(told.kind === 'ok' ? [told.fold] : [])];
  // Without either, the provider's own page has led here, and a page has asked about that already.
  if (typed === null ? deviceToken === null : own.includes(foldLoginName(typed))) return null;
  if (await isDeviceOf(sql, deviceToken, user.id)) return null;
  return { step: 'this browser', outcome: `new to the user; ${typed === null ? 'no' : 'another'} address was typed` };
}
