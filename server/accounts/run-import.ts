import { randomUUID } from 'node:crypto';
import type { DeskViewOf } from '#contract/desk.ts';
import { insertAuditEvent } from '../audit/audit-event.ts';
import type { By } from '../audit/audit-events.ts';
import { type Connection, type Database, rowOrNull } from '../database/database.ts';
import { deskDatabase, hasDeskRole } from '../database/desk-role.ts';
import type { DepsWithoutWake } from '../deps.ts';
import { insertJob, type Queue } from '../jobs/job.ts';
import { day } from '../limits.ts';
import { importUsers } from './import-users.ts';
import { type RefusedLine, readCsv } from './read-records.ts';
import type { Compared } from './store-batch.ts';

/** How long a file waits to be imported, and what came of it is shown. */
export const importKept = day;

/** How much of a file is read at once: more would hold up those who sign in meanwhile. */
const sliceBytes = 16 * 1024;

/** Refused lines that are shown, and how many there may be before the rest is not read: it is another file than was meant. */
const mostShown = 100;
const mostRefused = 1000;

const queueName = 'user-import';

type Payload = { importId: string; by: Omit<By, 'now'> };

type ImportState = NonNullable<DeskViewOf<'import'>['last']>;

/** The newest file for a customer, and how far it is. */
export async function findImport(sql: Connection, customerId: string): Promise<ImportState | null> {
  return await rowOrNull(sql<ImportState[]>`
    select id, stage, lines, read, added, unchanged, refused, refused_count as "refusedCount"
    from user_import where customer_id = ${customerId}`);
}

/** Keeps a CSV file whose lines end in `\n`, in place of an earlier one, and has it checked; false while that one is running. */
export async function checkImport(sql: Database, customerId: string, csv: string, by: By): Promise<boolean> {
  const { now, ...who } = by;
  const importId = randomUUID();
  const [header = ''] = /^(?:sep=[,;\t]\n)?.{0,2000}\n?/i.exec(csv) ?? [];
  const file = csv.slice(header.length);
  const refused = [...readCsv(header).entries].flatMap((entry) => ('problem' in entry ? shown(entry) : []));
  const stage = refused.length > 0 ? 'checked' : 'checking';
  return await sql.begin(async (sql) => {
    await sql`delete from user_import where customer_id = ${customerId} and stage <> 'running'`;
    const { count } = await sql`
      insert into user_import (customer_id, id, header, file, stage, lines, refused, refused_count, made_at)
      values (${customerId}, ${importId}, ${header}, ${Buffer.from(file)}, ${stage}, ${linesOf(file)}, ${JSON.stringify(refused)},
        ${refused.length}, ${now})
      on conflict (customer_id) do nothing`;
    if (count > 0) await readLater(sql, { importId, by: who }, now);
    return count > 0;
  });
}

/** Has a checked file imported; false if it is not the newest one any more, or was begun before. */
export async function runImport(sql: Database, customerId: string, importId: string, by: By): Promise<boolean> {
  const { now, ...who } = by;
  return await sql.begin(async (sql) => {
    const { count } = await sql`
      update user_import set stage = 'running', made_at = ${now}, ${nothingRead(sql)}
      where customer_id = ${customerId} and id::text = ${importId} and stage = 'checked' and read = lines`;
    if (count > 0) await readLater(sql, { importId, by: who }, now);
    return count > 0;
  });
}

const nothingRead = (sql: Connection) =>
  sql`read = 0, read_bytes = 0, added = 0, unchanged = 0, refused = '[]', refused_count = 0`;

async function readLater(sql: Connection, payload: Payload, madeAt: Date): Promise<void> {
  await insertJob(sql, { id: randomUUID(), queue: queueName, isWaitedFor: false, payload, madeAt });
}

/** Files to check and import. A check is one job, since it remembers earlier lines; an import is a job for each slice. */
export function importQueue(deps: DepsWithoutWake): Queue<Payload> {
  return {
    name: queueName,
    atOnce: 1,
    async perform({ payload }) {
      const seen = new Map<string, Compared>();
      const { sql } = deps;
      await sql`update user_import set ${nothingRead(sql)} where id = ${payload.importId} and stage = 'checking'`;
      while (await readSlice(deps, payload, seen));
      return 'done';
    },
    async giveUp(sql, { payload }) {
      await sql`delete from user_import where id = ${payload.importId}`;
    },
  };
}

/** Checks or imports the next lines of a file; whether the same job goes on. After a crash, lines that were stored are unchanged. */
async function readSlice(deps: DepsWithoutWake, payload: Payload, seen: Map<string, Compared>): Promise<boolean> {
  const { sql, now } = deps;
  const { importId, by } = payload;
  const part = await rowOrNull(sql<Part[]>`
    select c.id as "customerId", c.key, i.stage, i.header, i.read, i.read_bytes as "readBytes", octet_length(i.file) as bytes,
      i.refused_count as "refusedCount",
      substring(i.file from i.read_bytes + 1 for ${sliceBytes}) as some
    from user_import i join customer c on c.id = i.customer_id
    where i.id = ${importId} and i.stage in ('checking', 'running')`);
  if (!part) return false;
  const { customerId, key, stage, header, read, readBytes, bytes, refusedCount } = part;
  const some = part.some.toString();
  const slice = wholeRecords.exec(some)?.[0] ?? (some.slice(0, some.lastIndexOf('\n') + 1) || some);
  const { added, unchanged, refused } = await importUsers(
    { ...deps, sql: await databaseOf(sql, customerId), actor: by.actor },
    readCsv(header + slice).entries,
    { from: 'vestibule', customers: [key], acceptsUnverified: false, atDesk: true, dryRun: stage === 'checking', seen },
  );
  const readTo = readBytes + Buffer.byteLength(slice);
  const isOver = readTo >= bytes || refusedCount + refused.length > mostRefused;
  const next = stage === 'checking' ? 'checked' : 'done';
  const lines = refused.map((entry) => shown({ ...entry, line: entry.line + read })).slice(0, mostShown);
  return await sql.begin(async (sql) => {
    // Another instance may have taken over meanwhile, or a newer file has replaced this one.
    const [counts] = await sql`
      update user_import set read = read + ${linesOf(slice)}, read_bytes = ${readTo}, added = added + ${added},
        unchanged = unchanged + ${unchanged}, refused_count = refused_count + ${refused.length},
        refused = jsonb_path_query_array(refused || ${JSON.stringify(lines)}::jsonb, ${`$[0 to ${mostShown - 1}]`}::jsonpath),
        stage = ${isOver ? next : stage}, file = case when ${isOver && next === 'done'} then '' else file end
      where id = ${importId} and stage = ${stage} and read_bytes = ${readBytes}
      returning added, unchanged, refused_count as refused`;
    if (!counts) return false;
    if (stage === 'checking') return !isOver;
    const steps = Object.entries(counts).map(([step, count]) => ({ step, outcome: String(count) }));
    if (!isOver) await readLater(sql, payload, now());
    else await insertAuditEvent(sql, { event: 'users-imported', customerKey: key, steps, ...by }, now());
    return false;
  });
}

type Part = Pick<ImportState, 'stage' | 'read'> &
  Record<'customerId' | 'key' | 'header', string> & { some: Buffer } & Record<
    'readBytes' | 'bytes' | 'refusedCount',
    number
  >;

/** As many records as end in a text: a cell in quotes may have several lines. */
const wholeRecords = /^(?:[^"\n]*(?:"[^"]*"[^"\n]*)*\n)+/;

/** How many lines end in a text. */
const linesOf = (text: string) => text.split('\n').length - 1;

const shown = ({ line, problem }: RefusedLine) => ({ line, problem: problem.slice(0, 300) });

/** An import is of one customer whoever began it, so all else is behind the second wall. */
async function databaseOf(sql: Database, customerId: string): Promise<Database> {
  if (await hasDeskRole(sql)) return deskDatabase(sql, [customerId]);
  return sql.within(`set local vestibule.desk_customers = '${customerId}'`);
}
