import type { Connection } from '../database/database.ts';
import type { AuditEvent } from './audit-events.ts';
import { referenceOfRequest } from './reference.ts';

/**
 * Records an event at most once a minute under a key, so that a flood cannot fill the table. Returns the reference of
 * the request that is recorded: this one, or the one within the minute before.
 */
export async function insertEventOnceAMinute(
  sql: Connection,
  event: AuditEvent & { requestId: string },
  under: string,
  now: Date,
): Promise<string> {
  const key = `recorded:${under}`;
  // In the column of a guess: what tells the recorded request from all others.
  const mark = Buffer.from(event.requestId.replaceAll('-', '').slice(0, 16), 'hex');
  const { count } = await sql`
    insert into audit_event (at, event, reason, user_id, username, customer_key, connection, address, request_id, steps)
    select ${now}, ${event.event}, ${event.reason ?? null}, ${event.userId ?? null}::uuid, ${event.username ?? null},
      ${event.customerKey ?? null},
      coalesce(${event.connection ?? null}, (select key from sso_connection where id = ${event.connectionId ?? null}::uuid)),
      ${event.address ?? null}::inet, ${event.requestId},
      ${JSON.stringify(event.steps ?? [])}::jsonb
    where throttle_attempt(${key}, ${mark}, ${now}, 1, 60, 60, 60)`;
  if (count > 0) return referenceOfRequest(event.requestId);
  const [row] = await sql<
    { lastGuess: Buffer | null }[]
  >`select last_guess as "lastGuess" from throttle where key = ${key}`;
  return referenceOfRequest((row?.lastGuess ?? mark).toString('hex'));
}
