import { type ImportCounts, type ImportOptions, importUsers, type RefusedLine } from '#server/accounts/import-users.ts';
import { readJsonLines } from '#server/accounts/read-records.ts';
import { readVestibule } from '#server/accounts/vestibule-source.ts';
import type { PortalForTest } from './portal-for-test.ts';

export type ImportOutcome = ImportCounts & { lines: RefusedLine[] };

/** Imports records, or raw lines, with the portal's keys and clock; users without customers get `acme`. */
export async function importLines(
  { deps, sql }: Pick<PortalForTest, 'deps' | 'sql'>,
  lines: readonly (Record<string, unknown> | string | Buffer)[],
  options: Partial<ImportOptions> = {},
): Promise<ImportOutcome> {
  const refused: RefusedLine[] = [];
  async function* chunks() {
    for (const line of lines) {
      if (Buffer.isBuffer(line)) yield line;
      else yield Buffer.from(typeof line === 'string' ? line : JSON.stringify(line));
      yield Buffer.from('\n');
    }
  }
  const counts = await importUsers({ ...deps, sql }, readJsonLines(chunks()), {
    readSource: readVestibule,
    dryRun: false,
    onRefused: (line) => void refused.push(line),
    onProgress() {},
    isStopped: () => false,
    ...options,
    rules: { customers: ['acme'], acceptsUnverified: false, isStrict: true, ...options.rules },
  });
  return { ...counts, lines: refused };
}
