import { insertAuditEvent } from '../audit/audit-event.ts';
import type { By } from '../audit/audit-events.ts';
import type { Keys } from '../crypto/keys.ts';
import { keyId, keyIdBytes, seal, unseal } from '../crypto/keys.ts';
import type { Database } from '../database/database.ts';
import { totpPlace } from '../factors/registration.ts';
import { hubKeyPlace } from '../hub/hub-keys.ts';
import { portalKeyPlace } from '../single-sign-on/portal-keys.ts';
import { connectionPlace } from '../single-sign-on/sso-connection.ts';

/** What stays sealed until somebody changes it. Everything else ends by itself: sessions, visits to providers, emails. */
const lasting = [
  { table: 'sso_connection', column: 'sealed_secret', key: 'id', place: connectionPlace },
  { table: 'portal_key', column: 'sealed_key', key: 'id', place: portalKeyPlace },
  { table: 'hub_key', column: 'sealed_key', key: 'id', place: hubKeyPlace },
  { table: 'totp', column: 'sealed_secret', key: 'user_id', place: totpPlace },
] as const;

/** How many texts of a column are sealed with the newest secret, an older one, or none that is known. */
type SealCount = { what: string; newest: number; older: number; unreadable: number };

/** Counts the seals of every column by the ids of their keys. */
export async function countSeals(sql: Database, keys: Keys): Promise<SealCount[]> {
  const ids = keys.seal.map((key) => keyId(key).toString('hex'));
  const columns = await sql<{ table: string; column: string }[]>`
    select table_name as table, column_name as column from information_schema.columns
    where table_schema = current_schema() and column_name like 'sealed\\_%' order by table_name, column_name`;
  const counts: SealCount[] = [];
  for (const { table, column } of columns) {
    const count = { what: `${table}.${column}`, newest: 0, older: 0, unreadable: 0 };
    const rows = await sql<{ id: string; seals: number }[]>`
      select encode(substring(${sql(column)} from 1 for ${keyIdBytes}::integer), 'hex') as id, count(*) as seals
      from ${sql(table)} where ${sql(column)} is not null group by 1`;
    for (const { id, seals } of rows)
      count[id === ids[0] ? 'newest' : ids.includes(id) ? 'older' : 'unreadable'] += seals;
    counts.push(count);
  }
  return counts;
}

/**
 * Reseals what lasts with the newest secret, row by row, and records how much. Servers may run meanwhile: a row that one of them
 * changes first is left alone. Returns the new counts, and how many were resealed.
 */
export async function renewSeals(
  sql: Database,
  keys: Keys,
  { actor, now }: By,
): Promise<{ counts: SealCount[]; renewed: Record<string, number> }> {
  const newest = keyId(keys.seal[0] as Buffer);
  const renewed: Record<string, number> = {};
  for (const { table, column, key, place } of lasting) {
    const [id, sealed] = [sql(key), sql(column)];
    const rows = await sql<{ id: string; sealed: Buffer }[]>`
      select ${id} as id, ${sealed} as sealed from ${sql(table)}
      where substring(${sealed} from 1 for ${keyIdBytes}::integer) <> ${newest}`;
    for (const row of rows) {
      const text = unseal(keys.seal, row.sealed, place(row.id));
      if (text === null) continue;
      const { count } = await sql`
        update ${sql(table)} set ${sealed} = ${seal(keys.seal, text, place(row.id))}
        where ${id} = ${row.id}::uuid and ${sealed} = ${row.sealed}`;
      if (count > 0) renewed[`${table}.${column}`] = (renewed[`${table}.${column}`] ?? 0) + 1;
    }
  }
  const steps = Object.entries(renewed).map(([step, count]) => ({ step, outcome: `${count} resealed` }));
  if (steps.length > 0) await insertAuditEvent(sql, { event: 'secrets-renewed', steps, actor }, now);
  return { counts: await countSeals(sql, keys), renewed };
}

/** The warning about seals that are not by the first secret, or null if all are. */
export function sealProblem(counts: readonly SealCount[]): { isLost: boolean; words: string } | null {
  const list = (part: 'older' | 'unreadable') =>
    counts.filter((count) => count[part] > 0).map((count) => `${count[part]} ${count.what}`);
  const lost = list('unreadable').join(', ');
  const older = list('older').join(', ');
  if (lost)
    return {
      isLost: true,
      words: `sealed under a secret missing from VESTIBULE_SECRET, and unusable until it is added at the end: ${lost}`,
    };
  if (older)
    return {
      isLost: false,
      words: `still sealed under an older secret: ${older} – vestibule secrets renew reseals what lasts, the rest ends by itself`,
    };
  return null;
}
