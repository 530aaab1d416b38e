import { type CsvError, parse } from 'csv-parse/sync';
import { ownField, problemOfFields } from './own-format.ts';
import { isRecord, type SourceRecord } from './source-user.ts';

/** What a file holds at a line, counted from 1. */
export type ImportEntry = { line: number; record: SourceRecord } | RefusedLine;

/** A line that is not taken over: its record or, if it is none, its text. */
export type RefusedLine = { line: number; problem: string; record?: SourceRecord; text?: string };

/** A file with users; `write` makes one of the same format of refused lines, each with its problem as `refused`. */
export type ImportFile = { entries: Iterable<ImportEntry>; write: (refused: readonly RefusedLine[]) => string };

/** The records of JSON Lines (jsonlines.org): one object per line; empty lines are skipped. */
export function readJsonLines(text: string): ImportFile {
  return {
    entries: jsonEntries(text),
    write: (refused) =>
      refused
        .map(({ record, text, problem }) => `${record ? JSON.stringify({ ...record, refused: problem }) : text}\n`)
        .join(''),
  };
}

function* jsonEntries(file: string): Generator<ImportEntry> {
  for (const [index, text] of file.split('\n').entries()) {
    const line = index + 1;
    if (text.trim() === '') continue;
    try {
      const record: unknown = JSON.parse(text);
      yield isRecord(record) ? { line, record } : { line, text, problem: 'is not a JSON object' };
    } catch {
      yield { line, text, problem: 'is not valid JSON' };
    }
  }
}

/**
 * The records of a CSV file (RFC 4180) whose first line names our fields, as spreadsheets write it: with commas,
 * semicolons or tabs, and perhaps Excel's line `sep=;` before all. A first line that is wrong is all that is read.
 */
export function readCsv(file: string): ImportFile {
  const text = file.replace(/\r\n?/g, '\n');
  const isMarked = /^sep=[,;\t]\n/i.test(text);
  const delimiter = (isMarked ? text.charAt(4) : /[,;\t]/.exec(text)?.[0]) ?? ',';
  const lines = text.split('\n');
  // By the line at which the record begins.
  const wrong = new Map<number, string>();
  let columns: string[] = [];
  const firstLine = (raw: string, last: number) => last - raw.trimStart().replace(/\n$/, '').split('\n').length + 1;
  const rows: { record: SourceRecord; raw: string; info: { lines: number; error?: CsvError } }[] = parse(text, {
    // Absent values, as databases print them.
    cast: (cell) => (['NULL', '\\N'].includes(cell) ? '' : cell),
    columns(names: string[]) {
      columns = wrong.size > 0 ? [] : names.map(ownField);
      return names.map(ownField);
    },
    delimiter,
    from_line: isMarked ? 2 : 1,
    info: true,
    on_skip(error, raw = '') {
      if (error) wrong.set(firstLine(raw, Number(error.lines)), problemOf(error));
    },
    raw: true,
    relax_column_count: true,
    skip_empty_lines: true,
    skip_records_with_empty_values: true,
    skip_records_with_error: true,
    trim: true,
  });
  const read = rows.map(({ record, raw, info }) => {
    const line = firstLine(raw, info.lines);
    return info.error ? { line, problem: problemOf(info.error) } : { line, record };
  });
  // A quote out of place may hide what follows, up to the next record.
  const entries = [...read, ...Array.from(wrong, ([line, problem]) => ({ line, problem }))]
    .sort((one, other) => one.line - other.line)
    .map((entry, index, all) => {
      const text = lines.slice(entry.line - 1, (all[index + 1]?.line ?? lines.length + 1) - 1).join('\n');
      return 'record' in entry ? entry : { ...entry, text };
    });
  const problem = columns.length > 0 && problemOfFields(columns);
  const header = problem ? [{ line: isMarked ? 2 : 1, problem, text: '' }] : entries.slice(0, 1);
  const shown = columns.filter((name) => name !== 'refused');
  return {
    entries: problem || columns.length === 0 ? header : entries,
    write: (refused) => {
      const rows = refused.flatMap(({ record, text = '', problem }) => {
        if (record) return [...shown.map((name) => record[name]), problem].map(inQuotes).join(delimiter);
        const reason = columns.includes('refused') ? '' : delimiter + inQuotes(problem);
        return text.split('\n').flatMap((row) => (/[^\s,;"]/.test(row) ? row + reason : []));
      });
      // With the mark by which Excel knows UTF-8.
      return `\ufeff${[[...shown, 'refused'].join(delimiter), ...rows].join('\n')}\n`;
    },
  };
}

const inQuotes = (cell: unknown) => `"${String(cell ?? '').replaceAll('"', '""')}"`;

function problemOf({ code }: CsvError): string {
  if (code.startsWith('CSV_RECORD_INCONSISTENT')) return 'has another number of cells than the first line';
  const problem = 'is not valid CSV: a quote is missing or out of place';
  // Nobody can say where the record after a quote that is never closed begins.
  return code === 'CSV_QUOTE_NOT_CLOSED' ? `${problem}; nothing after it was read` : problem;
}
