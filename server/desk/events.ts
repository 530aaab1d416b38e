import { Readable } from 'node:stream';
import type { DeskViewOf, EventRow } from '#contract/desk.ts';
import { type AuditEventRow, type AuditFilter, eventKinds, listAuditEvents } from '../audit/audit-event.ts';
import { day } from '../limits.ts';
import { foldLoginName } from '../names/read-name.ts';
import { readTime } from '../names/read-time.ts';
import type { Asked, DeskPageRoom } from './desk-page.ts';
import { type DeskVisit, largeRead } from './desk-visit.ts';
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
  find: readFilter,
  view: async (_deps, { desk }, { shown, filter }) => {
    const rows = await largeRead(desk, (sql) => listAuditEvents(sql, { ...filter, limit: eventsOfPage + 1 }));
    const onPage = rows.slice(0, eventsOfPage);
    const before = rows.length > eventsOfPage ? String(onPage.at(-1)?.id) : null;
    return { name: 'events', ...shown, events: onPage.map((row) => eventRowOf(desk, row)), before };
  },
};

/** What the address asks for; null if its customer is none of those of whoever looks. */
async function readFilter(_deps: unknown, { desk, query }: Asked): Promise<Found | null> {
  const { sql, scope } = desk;
  const { customer = '', person = '', kind = '', from = '', to = '' } = query;
  const customers = await sql<Shown['customers']>`
    select key, name from customer where ${scope}::uuid[] is null or id = any(${scope}::uuid[])
    order by key = ${customer} desc, lower(name), key limit ${mostOfChoice}`;
  if (customer !== '' && !customers.some(({ key }) => key === customer)) return null;
  const known = eventKinds.find((known) => known === kind);
  const [since, last, before] = [readTime(from), readTime(to), Number(query.before)];
  const filter = {
    ...eventsSeenBy(desk),
    ...(customer && { customerKeys: [customer] }),
    ...(person.trim() && { userId: await idOf(desk, person.trim()) }),
    ...(known && { kind: known }),
    ...(since && { since }),
    ...(last && { until: new Date(last.getTime() + day) }),
    ...(Number.isSafeInteger(before) && before > 0 && { before }),
  };
  return { filter, shown: { customers, filter: { customer, person, kind, from, to } } };
}

/** No person has it. */
const nobody = '00000000-0000-0000-0000-000000000000';

/** Whoever has that name now, whatever they were called at the time; a name that nobody has is not looked for in each event. */
async function idOf(desk: DeskVisit, name: string): Promise<string> {
  const [user] = await desk.sql`select u.id from portal_user u where ${isCalled(desk, foldLoginName(name))}`;
  return user?.id ?? nobody;
}

/**
 * Of which events whoever is at the desk may learn: an administrator of those of their customers. Of people with other customers
 * too, they learn of sign-ins, but not what concerns the way in at all of them.
 */
export function eventsSeenBy({ actor }: DeskVisit): Pick<AuditFilter, 'customerKeys' | 'aloneOf'> {
  const customerKeys = actor.customers.map(({ key }) => key);
  return actor.role === null ? { customerKeys, aloneOf: customerKeys } : {};
}

/** The customers of an event that whoever is at the desk may see. */
function customersSeen({ actor }: DeskVisit, { customerKey }: AuditEventRow): string[] {
  const keys = customerKey?.split(', ') ?? [];
  return keys.filter((key) => actor.role !== null || actor.customers.some((own) => own.key === key));
}

/** Whether a step says nothing of other customers than theirs: a person who has some is judged for all of them. */
function isOfOwn({ actor }: DeskVisit, step: string): boolean {
  const [, key] = /^(?:networks|passkeys) of (.*)$/.exec(step) ?? [];
  if (key !== undefined) return actor.customers.some((own) => own.key === key);
  return !/\b(?:customers|groups|administers)\b/.test(step);
}

/** An event as whoever is at the desk may see it: an administrator learns no step, nor who acted, for another customer. */
export function eventRowOf(desk: DeskVisit, row: AuditEventRow): EventRow {
  const { at, event, reason, userId, username, address, browser, connection, reference } = row;
  // A customer's provider may name anybody: who that is, is not for its administrators.
  const isHidden = desk.scope !== null && event === 'sso-refused';
  const person = userId === null || isHidden ? null : { id: userId, name: username ?? userId };
  const steps = isHidden ? [] : row.steps.filter(({ step }) => desk.scope === null || isOfOwn(desk, step));
  const shown = { at, event, reason, person, address, browser, reference };
  const actor = row.actor === `user:${username}` ? null : row.actor;
  const isOwn = customersSeen(desk, row).join(', ') === (row.customerKey ?? '');
  if (isOwn) return { ...shown, actor, connection, steps };
  return { ...shown, actor: null, connection: null, steps: [], address: actor === null ? address : null };
}

/** An event in a file. */
function lineOf(desk: DeskVisit, event: AuditEventRow) {
  const { at, person, ...row } = eventRowOf(desk, event);
  return {
    at: at.toISOString(),
    person: event.userId === null || person ? event.username : null,
    customers: customersSeen(desk, event),
    ...row,
  };
}

type Line = ReturnType<typeof lineOf>;

const header = 'at,event,reason,person,customers,actor,address,browser,connection,reference';
const columns = header.split(',') as Exclude<keyof Line, 'steps'>[];

const formats = [
  { ending: 'csv', type: 'text/csv', first: [header], textOf: cellsOf, end: '\r\n' },
  {
    ending: 'jsonl',
    type: 'application/jsonl',
    first: [],
    textOf: JSON.stringify as (line: Line) => string,
    end: '\n',
  },
];

/** The same events as a file, read in parts so that neither memory nor a transaction grows with it. */
export const eventFiles = formats.map(({ ending, type, first, textOf, end }): DeskPageRoom<Found> => {
  async function* textsOf(desk: DeskVisit, filter: Found['filter']) {
    yield* first.map((text) => text + end);
    let from = filter;
    for (let read = 0; read < mostOfFile; read += atOnce) {
      const rows = await largeRead(desk, (sql) => listAuditEvents(sql, { ...from, limit: atOnce }));
      yield rows.map((row) => textOf(lineOf(desk, row)) + end).join('');
      if (rows.length < atOnce) return;
      from = { ...filter, before: rows.at(-1)?.id ?? 0 };
    }
  }
  return {
    ...events,
    path: `/events.${ending}`,
    file: async (desk, { filter }, reply) =>
      await reply
        .header('content-disposition', `attachment; filename="events.${ending}"`)
        .type(`${type}; charset=utf-8`)
        .send(Readable.from(textsOf(desk, filter))),
  };
});

/** A line of CSV (RFC 4180). What a spreadsheet would take for a formula begins with an apostrophe. */
function cellsOf(line: Line): string {
  const texts = columns.map((column) => [line[column] ?? ''].flat().join(' '));
  return texts.map((text) => `"${(/^[=+@\t\r-]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`).join(',');
}
