import type { Connection, Fragment } from '../database/database.ts';

/**
 * A condition: the user with this id signs in by passkey, and by no password, because one of their active customers asks for
 * that. The strictest counts, as with the second factor: whoever got the password would otherwise be in the account.
 */
export function isPasskeyRequiredOf(sql: Connection, userId: Fragment): Fragment {
  return sql`exists (${customersOf(sql, userId)} and c.passkeys = 'only')`;
}

/** Whether the user with this id signs in by passkey and by no password. */
export async function isPasskeyRequired(sql: Connection, userId: string): Promise<boolean> {
  return (await sql`select where ${isPasskeyRequiredOf(sql, sql`${userId}::uuid`)}`).length > 0;
}

/** A condition: one of the active customers of the user with this id takes passkeys. */
export function isPasskeyTakenOf(sql: Connection, userId: Fragment): Fragment {
  return sql`exists (${customersOf(sql, userId)} and c.passkeys <> 'off')`;
}

/** A condition: the user with this id has a passkey. */
export function hasPasskey(sql: Connection, userId: Fragment): Fragment {
  return sql`exists (select from passkey where passkey.user_id = ${userId})`;
}

/**
 * How many passkeys the user with this id has that can be used: those for another domain, from before the setting was changed,
 * cannot. Null where none can.
 */
export function usablePasskeysOf(sql: Connection, userId: Fragment, rpId: string | null): Fragment {
  return sql`(select count(*)::int from passkey where passkey.user_id = ${userId} and passkey.rp_id = ${rpId}::text)`;
}

function customersOf(sql: Connection, userId: Fragment): Fragment {
  return sql`select from membership m join customer c on c.id = m.customer_id where m.user_id = ${userId} and c.active`;
}
