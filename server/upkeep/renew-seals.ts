import type { Keys } from '../secrets/keys.ts';
import { seal, unseal } from '../secrets/sealed.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import type { Database } from '../storage/database.ts';
import { listSealedRows, replaceSeal, type SealedRow } from '../storage/sealed-column.ts';
import { type SealedKind, sealedKinds } from './sealed-columns.ts';

/** How many texts of a kind are sealed with the newest secret, an older one, or none that is known. */
export type SealCount = { what: string; newest: number; older: number; unreadable: number };

const rowsAtOnce = 200;
const updatesAtOnce = 8;

/** Counts the seals by secret. */
export async function countSeals(sql: Database, keys: Keys): Promise<SealCount[]> {
  return await walk(sql, keys, async () => {});
}

/**
 * Reseals with the newest secret everything that an older one sealed, and records the count. Servers may run meanwhile:
 * a row that one of them changes first is left alone. Each row is committed separately, so that the next run continues
 * an interrupted one. Returns the new counts, and how many were resealed.
 */
export async function renewSeals(
  sql: Database,
  keys: Keys,
  now: Date,
): Promise<{ counts: SealCount[]; renewed: Record<string, number> }> {
  const renewed: Record<string, number> = {};
  await walk(sql, keys, async (kind, row, text) => {
    const after = seal(keys.seal, text, kind.place(row));
    if (await replaceSeal(sql, kind, { key: row.key, before: row.sealed, after }))
      renewed[kind.what] = (renewed[kind.what] ?? 0) + 1;
  });
  const steps = Object.entries(renewed).map(([step, count]) => ({ step, outcome: `${count} resealed` }));
  if (steps.length > 0) await insertAuditEvent(sql, { event: 'secrets-renewed', steps }, now);
  return { counts: await countSeals(sql, keys), renewed };
}

/** Reads every sealed text, and calls `onOlder` for those sealed with an older secret. */
async function walk(
  sql: Database,
  keys: Keys,
  onOlder: (kind: SealedKind, row: SealedRow, text: string) => Promise<void>,
): Promise<SealCount[]> {
  const counts: SealCount[] = [];
  for (const kind of sealedKinds) {
    const count = { what: kind.what, newest: 0, older: 0, unreadable: 0 };
    let after: string | null = null;
    for (;;) {
      const rows: SealedRow[] = await listSealedRows(sql, kind, { after, most: rowsAtOnce });
      const older = rows.flatMap((row) => {
        const [name, text] = look(keys, row.sealed, kind.place(row));
        count[name] += 1;
        return name === 'older' ? [{ row, text }] : [];
      });
      for (let index = 0; index < older.length; index += updatesAtOnce)
        await Promise.all(older.slice(index, index + updatesAtOnce).map(({ row, text }) => onOlder(kind, row, text)));
      if (rows.length < rowsAtOnce) break;
      after = rows.at(-1)?.key ?? null;
    }
    counts.push(count);
  }
  return counts;
}

function look(keys: Keys, sealed: Buffer, place: string): ['newest' | 'older' | 'unreadable', string] {
  const [newest, ...older] = keys.seal;
  if (newest && unseal([newest], sealed, place) !== null) return ['newest', ''];
  const text = unseal(older, sealed, place);
  return text === null ? ['unreadable', ''] : ['older', text];
}
