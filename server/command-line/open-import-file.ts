import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { ImportEntry } from '../moving-in/read-records.ts';
import { failure } from './failure.ts';

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
