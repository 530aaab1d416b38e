import { pipeline, Readable } from 'node:stream';
import { type CsvError, parse } from 'csv-parse';
import { limits } from '../limits.ts';
import type { ImportEntry } from './import-entry.ts';

/**
 * The records of a CSV file (RFC 4180) whose first line names the fields; empty cells count as absent. A quote that is
 * never closed ends the reading at its line, since nobody can say where the next record begins. Memory: some records.
 */
export async function* readCsv(chunks: AsyncIterable<Buffer>): AsyncGenerator<ImportEntry> {
  const parser = parse({
    bom: true,
    columns: true,
    info: true,
    max_record_size: limits.importLineBytes,
    relax_column_count: true,
    skip_empty_lines: true,
  });
  // An error of the source becomes the parser's, which the loop below throws.
  pipeline(Readable.from(chunks, { objectMode: false }), parser, () => {});
  let line = 0;
  try {
    for await (const { record, info } of parser as AsyncIterable<Parsed>) {
      line = info.lines;
      if (info.error) yield { line, problem: `line: ${problemOf(info.error)}` };
      else if (Object.values(record).some(isGarbled)) yield { line, problem: 'line: is not UTF-8' };
      else yield { line, record: withoutEmpty(record) };
    }
  } catch (error) {
    if (!isCsvError(error)) throw error;
    yield { line: line + 1, problem: `line: ${problemOf(error)}; nothing after it was read` };
  }
}

type Parsed = { record: Record<string, unknown>; info: { lines: number; error?: CsvError } };

function withoutEmpty(record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== ''));
}

/** Whether a cell holds what bytes that are not UTF-8 are read as. */
function isGarbled(cell: unknown): boolean {
  return typeof cell === 'string' && cell.includes('\ufffd');
}

function isCsvError(error: unknown): error is CsvError {
  return error instanceof Error && String((error as CsvError).code).startsWith('CSV_');
}

function problemOf({ code }: CsvError): string {
  if (code.startsWith('CSV_RECORD_INCONSISTENT')) return 'has another number of cells than the first line';
  if (code === 'CSV_MAX_RECORD_SIZE') return `is longer than ${limits.importLineBytes} bytes`;
  return 'is not valid CSV: a quote is missing or out of place';
}
