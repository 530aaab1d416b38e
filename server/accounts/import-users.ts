import type { Keys } from '../crypto/keys.ts';
import type { Database } from '../database/database.ts';
import { readKeycloak } from './keycloak-source.ts';
import { readOwnFormat } from './own-format.ts';
import { type ImportRules, readImportedUser } from './read-imported-user.ts';
import type { ImportEntry, RefusedLine } from './read-records.ts';
import { type BatchLine, type Compared, type StoredBatch, storeBatch } from './store-batch.ts';

/** Users that one transaction of an import adds. */
export const importBatch = 500;

const sources = { vestibule: readOwnFormat, keycloak: readKeycloak };

export type ImportOptions = Omit<ImportRules, 'now'> & {
  /** What wrote the records. */
  from: keyof typeof sources;
  dryRun: boolean;
  /** Of a dry run: whom earlier parts of the same file would have added. */
  seen?: Map<string, Compared>;
};

/**
 * Adds the users of an export, batch by batch. A wrong line is refused and changes nothing. Throws if the database
 * fails: what was added stays, and the next run continues.
 */
export async function importUsers(
  deps: { sql: Database; keys: Keys; now: () => Date; actor: string },
  entries: Iterable<ImportEntry>,
  { from, dryRun, seen: earlier = new Map(), ...rules }: ImportOptions,
): Promise<StoredBatch> {
  const outcome: StoredBatch = { added: 0, unchanged: 0, refused: [] };
  let batch: BatchLine[] = [];
  // A dry run stores nothing, so it remembers the names of earlier lines.
  const seen = dryRun ? earlier : null;
  const finish = async () => {
    const stored = await storeBatch(deps, batch, { now: deps.now(), seen, atDesk: rules.atDesk === true });
    outcome.added += stored.added;
    outcome.unchanged += stored.unchanged;
    outcome.refused.push(...stored.refused);
    batch = [];
  };
  for (const entry of entries) {
    const read = readEntry(entry, from, { ...rules, now: deps.now() });
    if ('user' in read) batch.push(read);
    else outcome.refused.push(read);
    if (batch.length >= importBatch) await finish();
  }
  if (batch.length > 0) await finish();
  outcome.refused.sort((one, other) => one.line - other.line);
  return outcome;
}

function readEntry(entry: ImportEntry, from: keyof typeof sources, rules: ImportRules): BatchLine | RefusedLine {
  if ('problem' in entry) return entry;
  const source = sources[from](entry.record);
  const user = source.kind === 'ok' ? readImportedUser(source.value, rules) : source;
  return user.kind === 'ok' ? { ...entry, user: user.value } : { ...entry, problem: user.problem };
}
