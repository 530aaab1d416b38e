import { beforeEach, describe, expect, it } from 'vitest';
import { signedIn, startAccountAfresh } from '#test/support/account-page-for-test.ts';
import { signedInAs } from '#test/support/accounts-for-test.ts';
import { cookiesOf } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { sessionByConnection } from '#test/support/sso-for-test.ts';
import { codeNow, giveApp, halfSession, verifyByForm } from '#test/support/two-factor-for-test.ts';
import { tokenHash } from '../crypto/token.ts';
import { updateHubReceivers } from '../hub/tell-hubs.ts';
import { second } from '../limits.ts';

// A person with any number of sessions would keep the portal busy with their list of them, and a hub with their ends.

const portal = portalOfFile();
beforeEach(() => startAccountAfresh(portal));

/** So many more sessions of a user, like the newest of theirs, each used a second before the one before. */
async function copies(username: string, count: number): Promise<void> {
  await portal.sql`
    insert into session (token_hash, user_id, stage, waits_for, customer_ids, address, connection_id, created_at, last_seen_at, ends_at)
    select sha256(convert_to(s.token_hash::text || n, 'UTF8')), user_id, stage, waits_for, customer_ids, address, connection_id,
      created_at, last_seen_at - make_interval(secs => n), ends_at
    from (
      select s.* from session s join portal_user u on u.id = s.user_id where u.username = ${username}
      order by s.created_at desc limit 1
    ) s, generate_series(1, ${count}::int) n`;
}

async function sessionsOf(username: string): Promise<number> {
  return (
    await portal.sql`select from session where user_id = (select id from portal_user where username = ${username})`
  ).length;
}

describe('a user’s 101st session', () => {
  it('by password ends the one used longest ago, and hubs are told', async () => {
    const oldest = await signedIn(portal, 'alice');
    portal.wait(1000 * second);
    const bob = await signedIn(portal, 'bob');
    const next = await signedIn(portal, 'alice');
    await copies('alice', 98);
    expect(await signedInAs(portal, oldest)).toBe('alice');
    await portal.sql`update session set last_seen_at = created_at where token_hash = ${hashOf(oldest)}`;
    await updateHubReceivers(portal.sql, ['crm']);
    const newest = await signedIn(portal, 'alice');
    expect(await sessionsOf('alice')).toBe(100);
    const who = [oldest, next, newest, bob].map((cookies) => signedInAs(portal, cookies));
    expect(await Promise.all(who)).toEqual([null, 'alice', 'alice', 'bob']);
    expect(await portal.sql`select from job`).toHaveLength(1);
  });

  it('counts those by its way in only: a provider’s sign-ins end none by password', async () => {
    await signedIn(portal, 'alice');
    await copies('alice', 99);
    await sessionByConnection(portal, 'alice');
    await signedIn(portal, 'alice');
    expect(await sessionsOf('alice')).toBe(101);
  });
});

it('a user’s 21st half session from one address ends the oldest from there, and none from elsewhere', async () => {
  const secret = await giveApp(portal, 'alice');
  const elsewhere = await halfSession(portal, 'alice', { from: '203.0.113.9' });
  portal.wait(30 * second);
  await halfSession(portal, 'alice');
  await copies('alice', 19);
  await halfSession(portal, 'alice');
  expect(await sessionsOf('alice')).toBe(21);
  const answer = await verifyByForm(portal, { code: codeNow(portal, secret) }, elsewhere);
  expect(await signedInAs(portal, { ...elsewhere, ...cookiesOf(answer) })).toBe('alice');
});

function hashOf(cookies: Record<string, string>): Buffer {
  return tokenHash(cookies['vestibule-session'] ?? '');
}
