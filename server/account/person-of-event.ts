import { type AuditEvent, customersOfEvent } from '../audit/audit-events.ts';
import type { AccountVisit } from './account-visit.ts';

/** Who does something on their account page, and from where, for its event. */
export function personOf({ session, visitor }: AccountVisit): Omit<AuditEvent, 'event'> & { requestId: string } {
  const { userId, username, customers, connectionId } = session;
  return {
    userId,
    username,
    ...customersOfEvent(customers.map((key) => ({ key }))),
    ...(connectionId !== null && { connectionId }),
    address: visitor.address,
    requestId: visitor.requestId,
  };
}
