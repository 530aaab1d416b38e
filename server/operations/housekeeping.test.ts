import { expect, it } from 'vitest';
import { addAttackFixtures, addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { changedPage, changeTo, failedPage, linkFor, newPassword } from '#test/support/reset-for-test.ts';
import { insertAuditEvent } from '../audit/audit-event.ts';
import { newToken } from '../crypto/token.ts';
import { day, limits } from '../limits.ts';
import { keepHouse, resetLinkRemembered } from './housekeeping.ts';

const portal = portalOfFile({ once: addAttackFixtures });

it('events older than the configured time are deleted, newer ones stay', async () => {
  const { sql, deps } = portal;
  const at = (age: number) => new Date(deps.now().getTime() - age);
  await insertAuditEvent(sql, { event: 'signed-out', username: 'old' }, at(400 * day + 1));
  await insertAuditEvent(sql, { event: 'signed-out', username: 'young' }, at(400 * day - 1));
  await keepHouse(deps);
  expect(await sql`select username from audit_event`).toEqual([{ username: 'young' }]);
});

it('a link that was over long ago is unknown; until then its state is still known', async () => {
  const links = [await linkFor(portal, 'bob'), await linkFor(portal, 'bob'), await linkFor(portal, 'alice')];
  await changeTo(portal, links[0] as string, newPassword);
  const landings = async () => {
    const answers = await Promise.all([...links, newToken()].map((token) => changeTo(portal, token, newPassword)));
    return answers.map(({ headers }) => headers.location);
  };
  portal.wait(resetLinkRemembered);
  await keepHouse(portal.deps);
  expect(await landings()).toEqual([3, 3, 3, 4].map(failedPage));
  portal.wait(limits.resetLink + 1);
  const open = await linkFor(portal, 'bob');
  await keepHouse(portal.deps);
  expect(await landings()).toEqual([4, 4, 4, 4].map(failedPage));
  expect((await changeTo(portal, open, 'Another-Harbour-78')).headers.location).toBe(changedPage);
});

it('an open second factor is kept for its ten minutes, however short the idle time of sessions is', async () => {
  await addCustomer(portal, 'apps', { twoFactor: 'app' });
  await addUser(portal, { username: 'hal', customers: ['apps'] });
  await portal.signIn('hal', testPassword);
  const deps = { ...portal.deps, config: { ...portal.deps.config, sessionIdle: 60_000 } };
  const half = async () => (await portal.sql`select from session where stage = 'half'`).length;
  portal.wait(limits.halfSession - 1);
  await keepHouse(deps);
  expect(await half()).toBe(1);
  portal.wait(1);
  await keepHouse(deps);
  expect(await half()).toBe(0);
});
