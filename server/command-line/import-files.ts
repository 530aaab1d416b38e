import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { ImportCounts, RefusedLine } from '../moving-in/import-users.ts';
import type { ImportEntry } from '../moving-in/read-records.ts';
import { failure } from './failure.ts';
import { printWarning } from './print.ts';

export type ImportFile = {
  entries: AsyncIterable<ImportEntry>;
  /** The size, or null for standard input. */
  bytes: number | null;
  bytesRead: () => number;
};

/** Opens an export, or standard input for `-`. Throws a failure if there is none, or its format is unclear. */
export async function openImportFile(path: string, format: 'jsonl' | 'csv' | undefined): Promise<ImportFile> {
  const isCsv = (format ?? formatOf(path)) === 'csv';
  const { chunks, bytes } = path === '-' ? { chunks: process.stdin, bytes: null } : await chunksOf(path);
  let read = 0;
  async function* counted() {
    try {
      for await (const chunk of chunks as AsyncIterable<Buffer>) {
        read += chunk.length;
        yield chunk;
      }
    } catch (error) {
      throw unreadable(path, error);
    }
  }
  // Code that other commands don't need is loaded on demand.
  const entries = isCsv
    ? (await import('../moving-in/read-records.ts')).readCsv(counted())
    : (await import('../moving-in/read-records.ts')).readJsonLines(counted());
  return { entries, bytes, bytesRead: () => read };
}

function formatOf(path: string): 'jsonl' | 'csv' {
  if (path === '-' || /\.(?:jsonl|ndjson)$/i.test(path)) return 'jsonl';
  if (/\.csv$/i.test(path)) return 'csv';
  const hint = /\.json$/i.test(path) ? '; jq -c turns a JSON document into lines, see docs/moving-in.md' : '';
  throw failure(`${path}: is it JSON Lines or CSV? --format says so${hint}.`);
}

async function chunksOf(path: string): Promise<{ chunks: AsyncIterable<Buffer>; bytes: number | null }> {
  try {
    const file = await open(path);
    const { size } = await file.stat();
    return { chunks: createReadStream('', { fd: file }), bytes: size > 0 ? size : null };
  } catch (error) {
    throw unreadable(path, error);
  }
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
const barWidth = 30;

/** Shows how far an import is, on standard error: a bar on a terminal, else a line now and then. */
export function importProgress(
  bytes: number | null,
  bytesRead: () => number,
): { show: (counts: ImportCounts) => void; end: () => void } {
  const isTerminal = process.stderr.isTTY === true;
  let told = 0;
  return {
    show({ added, unchanged, refused }) {
      const lines = added + unchanged + refused;
      const words = `${lines} lines: ${added} added, ${unchanged} unchanged, ${refused} refused`;
      if (isTerminal) process.stderr.write(`\r\u001b[K${bar(bytes, bytesRead())}${words}`);
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

function bar(bytes: number | null, read: number): string {
  if (bytes === null) return '';
  const share = Math.min(1, read / bytes);
  const full = Math.round(share * barWidth);
  return `[${'#'.repeat(full)}${' '.repeat(barWidth - full)}] ${String(Math.floor(share * 100)).padStart(3)}%  `;
}
