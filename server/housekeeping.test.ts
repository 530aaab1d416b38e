import { afterAll, beforeAll, expect, it } from 'vitest';
import { changeUser } from './accounts/change-user.ts';
import { keepHouse } from './housekeeping.ts';
import { insertAuditEvent } from './storage/audit-event.ts';
import { addAttackFixtures } from './testing/accounts-for-test.ts';
import { cookiesOf, type PortalForTest, portalForTest, testPassword } from './testing/portal-for-test.ts';

const day = 24 * 3_600_000;
let portal: PortalForTest;
beforeAll(async () => {
  portal = await portalForTest();
  await addAttackFixtures(portal);
});
afterAll(() => portal.close());

it('old events go after as long as the operator says, younger ones stay', async () => {
  const { sql, deps } = portal;
  const at = (age: number) => new Date(deps.now().getTime() - age);
  await insertAuditEvent(sql, { event: 'signed-out', username: 'old' }, at(400 * day + 1));
  await insertAuditEvent(sql, { event: 'signed-out', username: 'young' }, at(400 * day - 1));
  await keepHouse(deps);
  expect(await sql`select username from audit_event`).toEqual([{ username: 'young' }]);
});

it('another password makes the known browsers of its user strangers', async () => {
  const cookies = cookiesOf(await portal.signIn('alice', testPassword));
  await portal.signIn('bob', testPassword, { cookies });
  await changeUser(portal.sql, 'alice', { passwordHash: 'another' }, portal.deps.now());
  const left = await portal.sql`select u.username from device d join portal_user u on u.id = d.user_id`;
  expect(left).toEqual([{ username: 'bob' }]);
});
