import { Readable } from 'node:stream';
import type { DeskViewOf } from '#contract/desk.ts';
import { type AuditEventRow, type AuditFilter, type EventKind, listAuditEvents } from '../audit/audit-event.ts';
import { patientRead } from '../database/large-tables.ts';
import { day } from '../limits.ts';
import { foldLoginName } from '../names/read-name.ts';
import { readTime } from '../names/read-time.ts';
import type { Asked, DeskPageRoom } from './desk-page.ts';
import type { DeskVisit } from './desk-visit.ts';
import { customersSeen, eventRowOf, eventsSeenBy } from './event-row.ts';
import { isCalled } from './person-rows.ts';

const eventsOfPage = 50;
/** A choice of more is no choice: those come from the page of their customer. */
const mostOfChoice = 500;
const mostOfFile = 100_000;
const atOnce = 2000;

type Shown = Pick<DeskViewOf<'events'>, 'customers' | 'filter'>;
type Found = { shown: Shown; filter: Omit<AuditFilter, 'limit'> };

/** What was recorded, newest first. */
export const events: DeskPageRoom<Found> = {
  path: '/events',
  find: async (_deps, asked) => await readFilter(asked),
  target: () => null,
  kept: [],
  acts: {},
  view: async (_deps, { desk }, { shown, filter }) => {
    const rows = await patientRead(desk.sql, (sql) => listAuditEvents(sql, { ...filter, limit: eventsOfPage + 1 }));
    const onPage = rows.slice(0, eventsOfPage);
    const before = rows.length > eventsOfPage ? String(onPage.at(-1)?.id) : null;
    return { name: 'events', ...shown, events: onPage.map((row) => eventRowOf(desk, row)), before };
  },
};

/** The same events as a file. */
export const eventFiles: DeskPageRoom<Found>[] = (['csv', 'jsonl'] as const).map((kind) => ({
  ...events,
  path: `/events.${kind}`,
  file: async (_deps, { desk }, { filter }, reply) =>
    await reply
      .header('content-disposition', `attachment; filename="events.${kind}"`)
      .type(kind === 'csv' ? 'text/csv; charset=utf-8' : 'application/jsonl; charset=utf-8')
      .send(Readable.from(kind === 'csv' ? csvOf(desk, filter) : jsonLinesOf(desk, filter))),
}));

/** What the address asks for; null if its customer is none of those of whoever looks. */
async function readFilter({ desk, query }: Asked): Promise<Found | null> {
  const { customer = '', person = '', kind = '', from = '', to = '' } = query;
  const customers = await listChoice(desk, customer);
  if (customer !== '' && !customers.some(({ key }) => key === customer)) return null;
  const [since, last] = [readTime(from), readTime(to)];
  const before = Number(query.before);
  const filter = {
    ...eventsSeenBy(desk),
    ...(customer && { customerKeys: [customer] }),
    ...(person.trim() && (await whose(desk, person.trim()))),
    ...(isKind(kind) && { kind }),
    ...(since && { since }),
    ...(last && { until: new Date(last.getTime() + day) }),
    ...(Number.isSafeInteger(before) && before > 0 && { before }),
  };
  return { filter, shown: { customers, filter: { customer, person, kind, from, to } } };
}

function isKind(text: string): text is EventKind {
  return ['signIns', 'refusals', 'acts'].includes(text);
}

async function listChoice({ sql, scope }: DeskVisit, asked: string): Promise<Shown['customers']> {
  return await sql<Shown['customers']>`
    select key, name from customer where ${scope}::uuid[] is null or id = any(${scope}::uuid[])
    order by key = ${asked} desc, lower(name), key limit ${mostOfChoice}`;
}

/** No person has it. */
const nobody = '00000000-0000-0000-0000-000000000000';

/** Whoever has that name now, whatever they were called at the time; a name that nobody has is not looked for in each event. */
async function whose(desk: DeskVisit, name: string): Promise<Pick<AuditFilter, 'userId'>> {
  const { sql } = desk;
  const [user] = await sql<
    { id: string }[]
  >`select u.id from portal_user u where ${isCalled(desk, foldLoginName(name))}`;
  return { userId: user?.id ?? nobody };
}

/** A part of a file at a time, so that neither memory nor a transaction grows with it. */
async function* inParts({ sql }: DeskVisit, filter: Found['filter']): AsyncGenerator<AuditEventRow[]> {
  let { before } = filter;
  for (let read = 0; read < mostOfFile; read += atOnce) {
    const rows = await patientRead(sql, (sql) =>
      listAuditEvents(sql, { ...filter, ...(before !== undefined && { before }), limit: atOnce }),
    );
    yield rows;
    if (rows.length < atOnce) return;
    before = rows.at(-1)?.id;
  }
}

function lineOf(desk: DeskVisit, event: AuditEventRow) {
  const { at, person: _, ...row } = eventRowOf(desk, event);
  return { at: at.toISOString(), person: event.username, customers: customersSeen(desk, event), ...row };
}

async function* jsonLinesOf(desk: DeskVisit, filter: Found['filter']): AsyncGenerator<string> {
  for await (const rows of inParts(desk, filter)) {
    yield rows.map((row) => `${JSON.stringify(lineOf(desk, row))}\n`).join('');
  }
}

const columns = ['at', 'event', 'reason', 'person', 'customers', 'actor', 'address', 'browser', 'connection'] as const;

async function* csvOf(desk: DeskVisit, filter: Found['filter']): AsyncGenerator<string> {
  yield `${[...columns, 'reference'].join(',')}\r\n`;
  for await (const rows of inParts(desk, filter)) {
    for (const row of rows) {
      const line = lineOf(desk, row);
      yield `${[...columns.map((column) => line[column]), line.reference].map(cellOf).join(',')}\r\n`;
    }
  }
}

/** A value as a cell of CSV (RFC 4180). What a spreadsheet would take for a formula begins with an apostrophe. */
function cellOf(value: string | string[] | null): string {
  const text = Array.isArray(value) ? value.join(' ') : (value ?? '');
  return `"${(/^[=+@\t\r-]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
}
