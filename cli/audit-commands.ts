import { setTimeout } from 'node:timers/promises';
import type { Command } from 'commander';
import { type AuditEventRow, listAuditEvents, listAuditEventsByRequest } from '#server/audit/audit-event.ts';
import { auditEvents, reasonInWords } from '#server/audit/audit-events.ts';
import { referenceOfText, requestIdStart } from '#server/audit/reference.ts';
import type { Database } from '#server/database/database.ts';
import { patientRead } from '#server/database/large-tables.ts';
import { minute, second } from '#server/limits.ts';
import { foldLoginName, type Reading } from '#server/names/read-name.ts';
import { findUser } from '#server/people/portal-user.ts';
import { type JsonFlag, optionOf, pastMoment, positiveNumber } from './options.ts';
import { type Answer, factsOf, failure, localTime, printLine, tableOf } from './print.ts';
import { type Opened, onDatabase } from './with-database.ts';

type AuditFlags = JsonFlag & {
  user?: string;
  customer?: string;
  event?: string;
  since?: Date;
  limit: number;
  follow?: true;
};

/** `vestibule audit` and `vestibule explain` */
export function addAuditCommands(program: Command): void {
  const events = [...auditEvents].map(([name, words]) => [`  ${name}`, words] as const);
  program
    .command('audit')
    .description('list events, newest first')
    .option('--user <name>', 'only events of this user, by username or email')
    .option('--customer <key>', 'only events of this customer')
    .addOption(optionOf('--event <event>', 'only events of this kind', readEvent))
    .option('--since <time>', 'only events since 30m, 24h or 7d ago, or since a date', pastMoment(new Date()))
    .option('--limit <number>', 'maximum number', positiveNumber, 50)
    .option('--follow', 'then print each event as it is recorded, until Ctrl-C')
    .option('--json', 'print them as JSON, with the chain of decisions; with --follow one in a line')
    .addHelpText('after', `\nEvents:\n${factsOf(events)}`)
    .action(onDatabase(runAudit));
  program
    .command('explain')
    .argument('<reference>', 'the reference shown on a failure page, such as K7Q2-M4XD')
    .description('show why a sign-in failed, decision by decision')
    .action(onDatabase(runExplain));
}

async function runAudit({ sql }: Opened, flags: AuditFlags): Promise<Answer | null> {
  const { user, customer, event, since, limit, follow, json } = flags;
  const filter = {
    ...(user && (await whose(sql, user))),
    ...(customer && { customerKeys: [customer] }),
    ...(event && { event }),
  };
  const read = async (since: Date | undefined, limit: number) =>
    await patientRead(sql, (sql) => listAuditEvents(sql, { ...filter, ...(since && { since }), limit }));
  const events = await read(since, limit);
  if (follow) {
    await printAsRecorded(events, (since) => read(since, 10_000), json);
    return null;
  }
  return { value: events, words: events.length === 0 ? 'No recorded event matches.' : eventTable(events) };
}

function readEvent(text: string): Reading {
  if (auditEvents.has(text)) return { kind: 'ok', value: text };
  return { kind: 'refused', problem: `there is no event ${text}, see vestibule audit --help` };
}

/** The user of that name, whatever they were called at the time; a name that nobody has now is looked for as such. */
async function whose(sql: Database, name: string): Promise<{ userId: string } | { username: string }> {
  const user = await findUser(sql, foldLoginName(name));
  return user ? { userId: user.id } : { username: name };
}

/** Prints events, and those that follow, oldest first, until Ctrl-C or a closed pipe. */
async function printAsRecorded(
  first: AuditEventRow[],
  read: (since: Date) => Promise<AuditEventRow[]>,
  json: true | undefined,
): Promise<void> {
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  const begin = Date.now();
  let shown = new Set<number>();
  for (let events = first; ; events = await read(new Date(Math.max(begin, Date.now() - minute)))) {
    for (const event of events.filter(({ id }) => !shown.has(id)).reverse())
      printLine(json ? JSON.stringify(event) : rowOf(event).map(orDash).join('  '));
    // Events are not committed in the order of their ids: those of the last minute are read again.
    shown = new Set(events.map(({ id }) => id));
    await setTimeout(second, undefined, { signal: stop.signal }).catch(() => undefined);
    if (stop.signal.aborted || process.stdout.destroyed) return;
  }
}

const orDash = (value: string) => value || '-';

export function eventTable(events: readonly AuditEventRow[]): string {
  return tableOf(['TIME', 'EVENT', 'REASON', 'USER', 'CUSTOMER', 'ACTOR', 'ADDRESS', 'REFERENCE'], events.map(rowOf));
}

function rowOf({ at, event, reason, username, customerKey, actor, address, reference }: AuditEventRow): string[] {
  const rest = [reason, username, customerKey, actor, address, reference].map((value) => value ?? '');
  return [localTime(at), event, ...rest];
}

async function runExplain({ sql }: Opened, text: string): Promise<Answer> {
  const reference = referenceOfText(text);
  if (!reference) throw failure(`${JSON.stringify(text)} is not a reference such as K7Q2-M4XD.`);
  const idStart = requestIdStart(reference);
  let events = (await listAuditEvents(sql, { reference, limit: 100 })).reverse();
  if (events.length === 0 && idStart) events = await patientRead(sql, (sql) => listAuditEventsByRequest(sql, idStart));
  if (events.length === 0) throw failure(nothingUnder(reference, idStart));
  return { value: events, words: events.map(inWords).join('\n') };
}

/**
 * The page of a refused or failed request shows the beginning of its id. Many such requests leave no event, but each
 * leaves a line in the log.
 */
function nothingUnder(reference: string, idStart: string | null): string {
  const inLog = idStart && ` If a page such as "Something went wrong" showed it, search the log for ${idStart}`;
  return `Nothing is recorded under the reference ${reference}.${inLog ?? ''}`;
}

function inWords(event: AuditEventRow): string {
  const facts: [string, string | null | undefined][] = [
    ['Reference', event.reference],
    ['Time', localTime(event.at)],
    ['Event', event.event],
    ['Reason', event.reason && reasonInWords(event.event, event.reason)],
    ['User', event.username],
    ['Actor', event.actor],
    ['Customer', event.customerKey],
    ['Connection', event.connection],
    ['Address', event.address],
    ['Request', event.requestId],
  ];
  const steps = event.steps.map(({ step, outcome }, index) => [`  ${index + 1}. ${step}`, outcome] as const);
  const known = factsOf(facts.flatMap(([name, value]) => (value == null ? [] : [[name, value] as const])));
  return steps.length === 0 ? known : `${known}\n\nDecisions, in order:\n${factsOf(steps)}`;
}
