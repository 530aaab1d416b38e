import { insertAuditEvent } from '../audit/audit-event.ts';
import type { Database } from '../database/database.ts';
import { listUnknownCustomerKeys, updateMemberships } from '../people/customer.ts';
import {
  foldsOfUser,
  insertUser,
  lockLoginNames,
  type NewUser,
  takenField,
  updateLoginNames,
} from '../people/portal-user.ts';

type AddUserResult =
  | { kind: 'added'; id: string }
  | { kind: 'taken'; field: 'username' | 'email' }
  | { kind: 'unknownCustomers'; keys: string[] };

/** Adds a user from validated fields, with names and customers, and records it; all or nothing. */
export async function addUser(
  sql: Database,
  user: NewUser & { customers: readonly string[] },
  now: Date,
): Promise<AddUserResult> {
  return await sql.begin(async (sql): Promise<AddUserResult> => {
    const unknown = await listUnknownCustomerKeys(sql, user.customers);
    if (unknown.length > 0) return { kind: 'unknownCustomers', keys: unknown };
    await lockLoginNames(sql);
    const field = await takenField(sql, user, null);
    if (field) return { kind: 'taken', field };
    const id = await insertUser(sql, user, now);
    await updateLoginNames(sql, id, foldsOfUser(user));
    await updateMemberships(sql, id, user.customers);
    const steps = [
      { step: 'email', outcome: user.email },
      { step: 'customers', outcome: user.customers.join(', ') || 'none' },
      { step: 'password', outcome: user.passwordHash === null ? 'none' : 'set' },
      ...(user.active ? [] : [{ step: 'active', outcome: 'no' }]),
      ...(user.mayChangePassword ? [] : [{ step: 'may change password', outcome: 'no' }]),
    ];
    await insertAuditEvent(sql, { event: 'user-added', userId: id, username: user.username, steps }, now);
    return { kind: 'added', id };
  });
}
