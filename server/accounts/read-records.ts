import { pipeline, Readable } from 'node:stream';
import { type CsvError, parse } from 'csv-parse';
import { isRecord, type SourceRecord } from './source-user.ts';

/** A longer line of an import is refused unread. */
export const importLineBytes = 256 * 1024;

/** What a file holds at a line, counted from 1: a record, or the problem with it. */
export type ImportEntry = { line: number; record: SourceRecord } | { line: number; problem: string };

const tooLong = `is longer than ${importLineBytes} bytes`;
/** What bytes that are not UTF-8 are read as. */
const garbled = '\ufffd';

/** The records of JSON Lines (jsonlines.org): one object per line; empty lines are skipped. Memory: one line. */
export async function* readJsonLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<ImportEntry> {
  const decoder = new TextDecoder();
  let line = 0;
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    // Of a line that is too long, no more than shows it.
    rest = (lines.pop() ?? '').slice(0, importLineBytes + 1);
    for (const text of lines) yield* entryOf(++line, text);
  }
  yield* entryOf(line + 1, rest + decoder.decode());
}

function* entryOf(line: number, text: string): Generator<ImportEntry> {
  if (text.length > importLineBytes) return yield { line, problem: `line: ${tooLong}` };
  if (text.includes(garbled)) return yield { line, problem: 'line: is not UTF-8' };
  if (text.trim() === '') return;
  try {
    const record: unknown = JSON.parse(text);
    yield isRecord(record) ? { line, record } : { line, problem: 'line: is not a JSON object' };
  } catch {
    yield { line, problem: 'line: is not valid JSON' };
  }
}

/**
 * The records of a CSV file (RFC 4180) whose first line names the fields; empty cells count as absent. A quote that is
 * never closed ends the reading at its line, since nobody can say where the next record begins.
 */
export async function* readCsv(chunks: AsyncIterable<Buffer>): AsyncGenerator<ImportEntry> {
  const parser = parse({
    bom: true,
    columns: true,
    info: true,
    max_record_size: importLineBytes,
    relax_column_count: true,
    skip_empty_lines: true,
  });
  // An error of the source becomes the parser's, which the loop below throws.
  pipeline(Readable.from(chunks, { objectMode: false }), parser, () => {});
  let line = 0;
  try {
    for await (const { record, info } of parser as AsyncIterable<Parsed>) {
      line = info.lines;
      const cells = Object.entries(record).filter(([, value]) => value !== '');
      if (info.error) yield { line, problem: `line: ${problemOf(info.error)}` };
      else if (cells.some(([, value]) => String(value).includes(garbled)))
        yield { line, problem: 'line: is not UTF-8' };
      else yield { line, record: Object.fromEntries(cells) };
    }
  } catch (error) {
    if (!String((error as CsvError).code).startsWith('CSV_')) throw error;
    yield { line: line + 1, problem: `line: ${problemOf(error as CsvError)}; nothing after it was read` };
  }
}

type Parsed = { record: SourceRecord; info: { lines: number; error?: CsvError } };

function problemOf({ code }: CsvError): string {
  if (code.startsWith('CSV_RECORD_INCONSISTENT')) return 'has another number of cells than the first line';
  return code === 'CSV_MAX_RECORD_SIZE' ? tooLong : 'is not valid CSV: a quote is missing or out of place';
}
