import { beforeEach, describe, expect, it } from 'vitest';
import { postAccount, sessionIdOf, signedIn, startAccountAfresh } from '#testing/account-page-for-test.ts';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { startForgedProvider } from '#testing/forged-openid-provider.ts';
import { holdRows } from '#testing/held-rows.ts';
import { givePasskey, signInWithPasskey } from '#testing/passkey-sign-in-for-test.ts';
import { cookiesOf, testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { sessionByConnection } from '#testing/session-by-connection.ts';
import { sharedByFile } from '#testing/shared-by-file.ts';
import { signedInAs } from '#testing/signed-in-as.ts';
import { addOidcConnection, browserForTest, departFor, pathOf } from '#testing/sso-for-test.ts';
import { codeNow, giveApp, halfSession, signInWithApp, verifyByForm } from '#testing/two-factor-for-test.ts';
import { second } from '../limits.ts';
import { tokenHash } from '../secrets/token.ts';
import { updateHubReceivers } from '../storage/hub-logout.ts';

// A person with any number of sessions would keep the portal busy with their list of them, and a hub with their ends.

const portal = portalOfFile();
const provider = sharedByFile(() => startForgedProvider(portal.deps));
beforeEach(() => startAccountAfresh(portal));

/** So many more sessions of a user, like the newest of theirs, each used a second before the one before. */
async function copies(username: string, count: number): Promise<void> {
  await portal.sql`
    insert into session (token_hash, user_id, stage, factor, customer_ids, address, connection_id, browser_hash, created_at, last_seen_at, ends_at)
    select sha256(convert_to(s.token_hash::text || n, 'UTF8')), user_id, stage, factor, customer_ids, address, connection_id,
      browser_hash, created_at, last_seen_at - make_interval(secs => n), ends_at
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

const isThere = async (cookies: Record<string, string>) =>
  (await portal.sql`select from session where token_hash = ${hashOf(cookies)}`).length > 0;

const events = async () =>
  await portal.sql`select username, steps from audit_event where event = 'oldest-sessions-ended' order by id`;

describe('a user’s 101st session', () => {
  it('by password ends the one used longest ago, as a sign-out in its browser that hubs are told of', async () => {
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
    expect(await portal.sql`select from hub_logout`).toHaveLength(1);
    expect(await portal.sql`select from ended_session where token_hash = ${hashOf(oldest)}`).toHaveLength(1);
    expect(await events()).toEqual([{ username: 'alice', steps: [{ step: 'sessions ended', outcome: '1' }] }]);
  });

  it('ends none if it replaces one in its own browser', async () => {
    const cookies = await signedIn(portal, 'alice');
    await copies('alice', 99);
    await signedIn(portal, 'alice', { cookies });
    expect([await sessionsOf('alice'), await events()]).toEqual([100, []]);
  });

  it('by a code ends one, too', async () => {
    const secret = await giveApp(portal, 'alice');
    await signInWithApp(portal, 'alice', secret);
    await copies('alice', 99);
    portal.wait(60 * second);
    await signInWithApp(portal, 'alice', secret);
    expect([await sessionsOf('alice'), await events()]).toEqual([
      100,
      [expect.objectContaining({ username: 'alice' })],
    ]);
  });

  it('counts those by its way in only: a provider’s sign-ins end none by password', async () => {
    await signedIn(portal, 'alice');
    await copies('alice', 99);
    await sessionByConnection(portal, 'alice');
    await signedIn(portal, 'alice');
    expect([await sessionsOf('alice'), await events()]).toEqual([101, []]);
  });

  it('waits for nobody: one that something else has locked stays until the next sign-in', async () => {
    const oldest = await signedIn(portal, 'alice');
    portal.wait(1000 * second);
    await signedIn(portal, 'alice');
    await copies('alice', 98);
    const release = await holdRows(
      portal.sql,
      (sql) => sql`select from session where token_hash = ${hashOf(oldest)} for update`,
    );
    await signedIn(portal, 'alice');
    await release();
    expect([await sessionsOf('alice'), await isThere(oldest)]).toEqual([101, true]);
    await signedIn(portal, 'alice');
    expect([await sessionsOf('alice'), await isThere(oldest)]).toEqual([100, false]);
  });
});

describe('a sign-in', () => {
  it('by passkey counts among those by password', async () => {
    await signedIn(portal, 'alice');
    await copies('alice', 99);
    const browser = browserForTest(portal);
    await signInWithPasskey(browser, await givePasskey(portal, 'alice'));
    expect([await sessionsOf('alice'), await signedInAs(portal, browser.cookies)]).toEqual([100, 'alice']);
    expect(await events()).toEqual([expect.objectContaining({ username: 'alice' })]);
    // An operator finds the sign-in that did so in the log.
    expect(await portal.sql`select from audit_event where request_id is null`).toHaveLength(0);
  });

  it('by a provider ends the oldest of its connection, and none by password', async () => {
    await addOidcConnection(portal, provider);
    provider.bend({ claims: (honest) => ({ ...honest, sub: 'subject of alice', email: 'alice@acme.test' }) });
    const come = async () => {
      const browser = browserForTest(portal);
      await browser.get(pathOf(provider.visit(await departFor(browser))));
      return await signedInAs(portal, browser.cookies);
    };
    const byPassword = await signedIn(portal, 'alice');
    portal.wait(1000 * second);
    await come();
    await copies('alice', 99);
    expect(await come()).toBe('alice');
    expect([await sessionsOf('alice'), await signedInAs(portal, byPassword)]).toEqual([101, 'alice']);
    expect(await events()).toEqual([expect.objectContaining({ username: 'alice' })]);
  });
});

describe('a user’s 21st half session', () => {
  it('from one address ends the oldest from there, and none from elsewhere', async () => {
    const secret = await giveApp(portal, 'alice');
    const elsewhere = await halfSession(portal, 'alice', { from: '203.0.113.9' });
    portal.wait(30 * second);
    await halfSession(portal, 'alice');
    await copies('alice', 19);
    await halfSession(portal, 'alice');
    expect([await sessionsOf('alice'), await events()]).toEqual([21, []]);
    const answer = await verifyByForm(portal, { code: codeNow(portal, secret) }, elsewhere);
    expect(await signedInAs(portal, { ...elsewhere, ...cookiesOf(answer) })).toBe('alice');
  });
});

describe('the account page', () => {
  it('lists at most 200 sessions, this one first, and ends all others', async () => {
    const cookies = await signedIn(portal, 'alice');
    await copies('alice', 300);
    const { body } = await portal.send({ url: '/portal/account/sessions', cookies });
    expect(body.match(/class="place"/g)).toHaveLength(200);
    await postAccount(portal, 'sessions', { do: 'endOthers', session: await sessionIdOf(portal, cookies) }, cookies);
    expect(await sessionsOf('alice')).toBe(1);
  });
});

it('somebody with more sessions from before there was a limit loses them in parts', async () => {
  await addCustomer(portal, 'other');
  await addUser(portal, { username: 'carl', customers: ['other'] });
  await signedIn(portal, 'carl');
  await copies('carl', 350);
  await portal.signIn('carl', testPassword);
  expect(await sessionsOf('carl')).toBe(252);
});

function hashOf(cookies: Record<string, string>): Buffer {
  return tokenHash(cookies['vestibule-session'] ?? '');
}
