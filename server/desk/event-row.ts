import type { EventRow } from '#contract/desk.ts';
import type { AuditEventRow } from '../audit/audit-event.ts';
import type { DeskVisit } from './desk-visit.ts';

/** An event as whoever is at the desk may see it: an administrator learns no step that tells of another customer. */
export function eventRowOf({ actor }: Pick<DeskVisit, 'actor'>, row: AuditEventRow): EventRow {
  const own = actor.customers.map(({ key }) => key);
  const isOwn = actor.role !== null || (row.customerKey ?? '').split(', ').every((key) => own.includes(key));
  return {
    at: row.at,
    event: row.event,
    reason: row.reason,
    person: row.userId === null ? null : { id: row.userId, name: row.username ?? row.userId },
    actor: row.actor === `user:${row.username}` ? null : row.actor,
    address: row.address,
    browser: row.browser,
    connection: row.connection,
    reference: row.reference,
    steps: isOwn ? row.steps : [],
  };
}
