import { expect, it } from 'vitest';
import type { Connection } from '../database/database.ts';
import { insertAuditEvent } from './audit-event.ts';

it('a property of an event that has no column does not compile', () => {
  const more = { username: 'alice', email: 'alice@acme.example' };
  const record = (sql: Connection) =>
    // @ts-expect-error: there is no column for email.
    insertAuditEvent(sql, { event: 'signed-in', ...more }, new Date());
  expect(record).toBeTypeOf('function');
});
