import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

export type Migration = { name: string; parts: Part[]; checksum: string };
/** `manner` is the line before it, without the dashes. */
export type Part = { text: string; manner: Manner };
type Manner = 'new transaction' | 'new transaction, again while rows change' | 'outside a transaction';

/** Reads the files `NNNN-what.sql` of a folder, in order. */
export async function readMigrations(folder: string): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => /^\d{4}-[a-z0-9-]+\.sql$/.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      // Git may check out other line ends than were committed.
      const sql = (await readFile(join(folder, name), 'utf8')).replaceAll('\r\n', '\n');
      return { name, parts: partsOf(sql), checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

function partsOf(sql: string): Part[] {
  const [first = '', ...rest] = sql.split(
    /^-- (new transaction|new transaction, again while rows change|outside a transaction)\n/m,
  );
  const parts: Part[] = first ? [{ text: first, manner: 'new transaction' }] : [];
  for (let at = 0; at < rest.length; at += 2) parts.push({ text: rest[at + 1] ?? '', manner: rest[at] as Manner });
  if (parts.at(-1)?.manner === 'outside a transaction') throw new Error('A migration ends with a transaction.');
  return parts;
}
