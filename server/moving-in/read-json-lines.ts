import { limits } from '../limits.ts';
import type { ImportEntry } from './import-entry.ts';
import { isRecord } from './is-record.ts';

/** The records of JSON Lines (jsonlines.org): one object per line; empty lines are skipped. Memory: one line. */
export async function* readJsonLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<ImportEntry> {
  for await (const { line, bytes, isTooLong } of linesOf(chunks)) {
    if (isTooLong) yield { line, problem: `line: is longer than ${limits.importLineBytes} bytes` };
    else yield* entryOf(line, bytes);
  }
}

function* entryOf(line: number, bytes: Buffer): Generator<ImportEntry> {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return yield { line, problem: 'line: is not UTF-8' };
  }
  if (text.trim() === '') return;
  try {
    const record: unknown = JSON.parse(text);
    yield isRecord(record) ? { line, record } : { line, problem: 'line: is not a JSON object' };
  } catch {
    yield { line, problem: 'line: is not valid JSON' };
  }
}

/** Removes a byte order mark too. */
const utf8 = new TextDecoder('utf-8', { fatal: true });

type Line = { line: number; bytes: Buffer; isTooLong: boolean };

async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Line> {
  let line = 1;
  let parts: Buffer[] = [];
  let length = 0;
  const take = (part: Buffer) => {
    length += part.length;
    if (length <= limits.importLineBytes) parts.push(part);
    else parts = [];
  };
  const done = (): Line => {
    const finished = { line, bytes: Buffer.concat(parts), isTooLong: length > limits.importLineBytes };
    line += 1;
    parts = [];
    length = 0;
    return finished;
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      take(chunk.subarray(start, end));
      yield done();
      start = end + 1;
    }
    take(chunk.subarray(start));
  }
  if (length > 0) yield done();
}
