import type { EventRow } from '#contract/desk.ts';
import type { AuditEventRow, AuditFilter } from '../audit/audit-event.ts';
import type { DeskVisit } from './desk-visit.ts';

type Looking = Pick<DeskVisit, 'actor'>;

/** Of which events whoever is at the desk may learn: an administrator of those of their customers. */
export function eventsSeenBy({ actor }: Looking): Pick<AuditFilter, 'customerKeys'> {
  return actor.role === null ? { customerKeys: actor.customers.map(({ key }) => key) } : {};
}

/** The customers of an event that whoever is at the desk may see. */
export function customersSeen(desk: Looking, { customerKey }: AuditEventRow): string[] {
  const keys = customerKey?.split(', ') ?? [];
  const { customerKeys = keys } = eventsSeenBy(desk);
  return keys.filter((key) => customerKeys.includes(key));
}

/** Whether an event is of no other customer than theirs. */
export function isOwn(desk: Looking, event: AuditEventRow): boolean {
  return customersSeen(desk, event).join(', ') === (event.customerKey ?? '');
}

/** An event as whoever is at the desk may see it: an administrator learns no step, nor who acted, for another customer. */
export function eventRowOf(desk: Looking, row: AuditEventRow): EventRow {
  const actor = row.actor === `user:${row.username}` ? null : row.actor;
  return {
    at: row.at,
    event: row.event,
    reason: row.reason,
    person: row.userId === null ? null : { id: row.userId, name: row.username ?? row.userId },
    actor: isOwn(desk, row) ? actor : null,
    address: isOwn(desk, row) || actor === null ? row.address : null,
    browser: row.browser,
    connection: isOwn(desk, row) ? row.connection : null,
    reference: row.reference,
    steps: isOwn(desk, row) ? row.steps : [],
  };
}
