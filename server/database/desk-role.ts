import { isDatabaseAway } from './connect.ts';
import type { Database } from './database.ts';

/** As whom PostgreSQL runs what an administrator reads and writes at the desk. It owns nothing and cannot connect. */
export const deskRole = 'vestibule_desk';

/** What the owner of the server runs where the portal may not make roles itself. */
export const deskRoleWords = (owner: string) =>
  `create role ${deskRole} nologin; grant ${deskRole} to "${owner}"; and start the portal again`;

/** Makes the role where that is allowed, and grants it the tables; returns whether it is there. */
export async function makeDeskRole(sql: Database): Promise<boolean> {
  const tryTo = async (statement: string) =>
    await sql.unsafe(statement).catch((error: unknown) => {
      // Another instance has just done it, or the portal's own user may not: then somebody else does.
      if (isDatabaseAway(error)) throw error;
    });
  if (!(await hasDeskRole(sql))) {
    await tryTo(`create role ${deskRole} nologin`);
    await tryTo(`grant ${deskRole} to current_user`);
  }
  if (!(await hasDeskRole(sql))) return false;
  // At each start: a newer version may have brought tables.
  const grant = `grant select, insert, update, delete on all tables in schema %I to ${deskRole}`;
  await tryTo(`do $$ begin execute format('${grant}', current_schema()); end $$`);
  return true;
}

/** Whether the role is there, and the portal may act as it. */
export async function hasDeskRole(sql: Database): Promise<boolean> {
  const rows = await sql`select from pg_roles where rolname = ${deskRole} and pg_has_role(oid, 'member')`;
  return rows.length > 0;
}

/** The database as an administrator of these customers sees it, by their ids. */
export function deskDatabase(sql: Database, customerIds: readonly string[]): Database {
  return sql.within(`set local role ${deskRole}; set local vestibule.desk_customers = '${customerIds.join(',')}'`);
}
