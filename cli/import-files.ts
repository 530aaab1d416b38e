import { open } from 'node:fs/promises';
import type { ImportCounts, RefusedLine } from '#server/accounts/import-users.ts';
import type { ImportEntry } from '#server/accounts/read-records.ts';
import { failure } from './failure.ts';
import { printWarning } from './print.ts';

/** Opens an export, or standard input for `-`. Throws a failure if there is none, or its format is unclear. */
export async function openImportFile(
  path: string,
  format: 'jsonl' | 'csv' | undefined,
): Promise<AsyncIterable<ImportEntry>> {
  const isCsv = (format ?? formatOf(path)) === 'csv';
  const chunks =
    path === '-'
      ? process.stdin
      : await open(path).then(
          (file) => file.createReadStream(),
          (error) => Promise.reject(unreadable(path, error)),
        );
  async function* read() {
    try {
      for await (const chunk of chunks) yield chunk as Buffer;
    } catch (error) {
      throw unreadable(path, error);
    }
  }
  // Code that other commands don't need is loaded on demand.
  const { readCsv, readJsonLines } = await import('#server/accounts/read-records.ts');
  return isCsv ? readCsv(read()) : readJsonLines(read());
}

function formatOf(path: string): 'jsonl' | 'csv' {
  if (path === '-' || /\.(?:jsonl|ndjson)$/i.test(path)) return 'jsonl';
  if (/\.csv$/i.test(path)) return 'csv';
  const hint = /\.json$/i.test(path) ? '; jq -c turns a JSON document into lines, see docs/moving-in.md' : '';
  throw failure(`${path}: is it JSON Lines or CSV? --format says so${hint}.`);
}

function unreadable(path: string, error: unknown): Error {
  return failure(`${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
}

/** A file of refused lines, readable by its owner only; it replaces an older one. Throws a failure if it can't be written. */
export async function openRefusedFile(
  path: string,
): Promise<{ write: (line: RefusedLine) => void; close: () => Promise<void> }> {
  const refused = (error: NodeJS.ErrnoException) => failure(`--refused: ${path} cannot be written (${error.code}).`);
  const file = await open(path, 'w', 0o600).catch((error) => Promise.reject(refused(error)));
  // An older file keeps its mode, and a device such as /dev/null is not ours to change.
  if ((await file.stat()).isFile()) await file.chmod(0o600).catch((error) => Promise.reject(refused(error)));
  let waiting: Promise<unknown> = Promise.resolve();
  return {
    write(line) {
      waiting = waiting.then(() => file.write(`${JSON.stringify(line)}\n`));
      waiting.catch(() => {});
    },
    async close() {
      await waiting.catch((error) => Promise.reject(refused(error)));
      await file.close();
    },
  };
}

/** Lines between two messages if there is no terminal. */
const linesBetween = 10_000;

/** Shows how far an import is, on standard error: in one line of a terminal, else in a line now and then. */
export function importProgress(): { show: (counts: ImportCounts) => void; end: () => void } {
  const isTerminal = process.stderr.isTTY === true;
  let told = 0;
  return {
    show({ added, unchanged, refused }) {
      const lines = added + unchanged + refused;
      const words = `${lines} lines: ${added} added, ${unchanged} unchanged, ${refused} refused`;
      if (isTerminal) process.stderr.write(`\r\u001b[K${words}`);
      else if (lines - told >= linesBetween) {
        told = lines;
        printWarning(words);
      }
    },
    end() {
      if (isTerminal) process.stderr.write('\n');
    },
  };
}
