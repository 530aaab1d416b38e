import type { Database } from '#server/database/database.ts';

// With the rows that reference these. Sessions precede what their deletion writes.
const everyTable = [
  ...['customer', 'portal_user', 'session'],
  ...['pending_totp', 'email_code', 'reset_link', 'device', 'throttle', 'job', 'audit_event'],
];

/** Deletes everything except the portal's own keys. */
export async function emptyDatabase(on: { sql: Database }): Promise<void> {
  await emptyTables(on, ...everyTable);
}

/** Deletes all rows of these tables, and those that reference them. */
export async function emptyTables({ sql }: { sql: Database }, ...tables: string[]): Promise<void> {
  // For a few rows this is twenty times as fast as truncate.
  await sql.unsafe(tables.map((table) => `delete from ${table};`).join(''));
}
