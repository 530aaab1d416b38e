import type { Keys } from '../crypto/keys.ts';
import type { Database } from '../database/database.ts';
import { readKeycloak } from './keycloak-source.ts';
import { readOwnFormat } from './own-format.ts';
import { type ImportRules, readImportedUser } from './read-imported-user.ts';
import type { ImportEntry } from './read-records.ts';
import { type ReadSource, type Refusal, refusalOf } from './source-user.ts';
import { type BatchLine, type Compared, storeBatch } from './store-batch.ts';

/** Users that one transaction of an import adds. */
export const importBatch = 500;

/** A line that was not taken over. */
export type RefusedLine = { line: number } & Refusal;

export type ImportCounts = { added: number; unchanged: number; refused: number };

const sources = { vestibule: readOwnFormat, keycloak: readKeycloak };

export type ImportOptions = {
  /** What wrote the records. */
  from: keyof typeof sources;
  rules: Omit<ImportRules, 'now'>;
  dryRun: boolean;
  /** Receives refused lines, those of one batch in order. */
  onRefused: (line: RefusedLine) => void;
};

/**
 * Adds the users of an export, batch by batch; only one batch is in memory. A wrong line is refused and changes nothing.
 * Throws if the database fails: what was added stays, and the next run continues.
 */
export async function importUsers(
  deps: { sql: Database; keys: Keys; now: () => Date; actor: string },
  entries: AsyncIterable<ImportEntry>,
  { from, rules, dryRun, onRefused }: ImportOptions,
): Promise<ImportCounts> {
  const counts = { added: 0, unchanged: 0, refused: 0 };
  let batch: BatchLine[] = [];
  let refused: RefusedLine[] = [];
  // A dry run stores nothing, so it remembers the names of earlier lines: some 200 bytes for each user.
  const seen = dryRun ? new Map<string, Compared>() : null;
  const finish = async () => {
    const stored = await storeBatch(deps, batch, { now: deps.now(), seen });
    counts.added += stored.added;
    counts.unchanged += stored.unchanged;
    const all = [...refused, ...stored.refused].sort((one, other) => one.line - other.line);
    counts.refused += all.length;
    all.forEach(onRefused);
    batch = [];
    refused = [];
  };
  for await (const entry of entries) {
    const read = readEntry(entry, sources[from], { ...rules, now: deps.now() });
    if ('user' in read) batch.push(read);
    else refused.push(read);
    if (batch.length + refused.length >= importBatch) await finish();
  }
  if (batch.length + refused.length > 0) await finish();
  return counts;
}

function readEntry(entry: ImportEntry, readSource: ReadSource, rules: ImportRules): BatchLine | RefusedLine {
  const { line } = entry;
  if ('problem' in entry) return { line, ...refusalOf(entry.problem) };
  const source = readSource(entry.record);
  const user = source.kind === 'ok' ? readImportedUser(source.value, rules) : source;
  return user.kind === 'ok' ? { line, user: user.value } : { line, ...refusalOf(user.problem) };
}
