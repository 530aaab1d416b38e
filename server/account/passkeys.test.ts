import { beforeEach, describe, expect, it } from 'vitest';
import { sessionIdOf } from '#test/support/account-page-for-test.ts';
import { addAttackFixtures, addCustomer, addUser, signedInAs } from '#test/support/accounts-for-test.ts';
import { enrolmentOf, newPasskey } from '#test/support/passkey-for-test.ts';
import { givePasskey, signInWithPasskey, userHandle } from '#test/support/passkey-sign-in-for-test.ts';
import { testPassword, testPasswordHash } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { browserForTest, sessionByConnection } from '#test/support/sso-for-test.ts';
import { changeUser } from '../accounts/users.ts';

const portal = portalOfFile({ once: addAttackFixtures });
const page = '/portal/account/passkeys';

beforeEach(async () => {
  await portal.sql.unsafe(
    'delete from session; delete from throttle; delete from audit_event; delete from passkey; delete from job; delete from sso_connection',
  );
});

async function signedIn(username: string, from?: string) {
  const browser = browserForTest(portal);
  const more = from ? { from } : {};
  await browser.post('/portal/performlogin', { username, password: testPassword }, more);
  const open = async (query = '') => (await browser.get(page + query, more)).body;
  const act = async (fields: Record<string, string>, at = '?do=rename') => {
    const [id] = await idsOf(username);
    const session = /name="session" value="([^"]+)"/.exec(await open(`${at}&id=${id}`))?.[1] ?? '';
    const answer = await browser.post(page, { session, ...fields }, more);
    return new URL(String(answer.headers.location), 'http://x').searchParams;
  };
  return { browser, open, act };
}

const idsOf = async (username: string) =>
  (
    await portal.sql<{ id: string }[]>`
      select p.id from passkey p join portal_user u on u.id = p.user_id where u.username = ${username} order by p.made_at`
  ).map(({ id }) => id);

describe('a passkey on the account page', () => {
  it('is renamed, which is an event', async () => {
    await givePasskey(portal, 'alice');
    const [id = ''] = await idsOf('alice');
    const { act, open } = await signedIn('alice');
    expect((await act({ do: 'rename', id, name: '  <b>Phone</b> ' })).get('notice')).toBe('passkeyRenamed');
    expect(await open()).toContain('&lt;b&gt;Phone&lt;/b&gt;');
    const events = await portal.sql`select event, username, actor from audit_event where event like 'passkey%'`;
    expect(events).toEqual([{ event: 'passkey-renamed', username: 'alice', actor: 'user:alice' }]);
  });

  it('is removed after a fresh proof, and the person is told', async () => {
    const passkey = await givePasskey(portal, 'alice');
    const [id = ''] = await idsOf('alice');
    const { act } = await signedIn('alice');
    portal.wait(601_000);
    expect((await act({ do: 'remove', id })).get('do')).toBe('remove');
    expect(await idsOf('alice')).toHaveLength(1);
    await act({ do: 'prove', for: 'remove', id, password: testPassword });
    expect((await act({ do: 'remove', id })).get('notice')).toBe('passkeyRemoved');
    expect(await portal.sql`select payload->>'kind' as kind from job`).toEqual([{ kind: 'passkeyRemoved' }]);
    const refused = await signInWithPasskey(browserForTest(portal), passkey);
    expect(refused.headers.location).toBe('/portal/loginfail/passkey');
  });

  it('that is removed ends the sessions that it opened, whose sign-in is a fresh proof, and no others', async () => {
    const removed = await givePasskey(portal, 'alice');
    const [id = ''] = await idsOf('alice');
    const { act, browser: own } = await signedIn('alice');
    const [thief, other] = [browserForTest(portal), browserForTest(portal)];
    await signInWithPasskey(thief, removed);
    await signInWithPasskey(other, await givePasskey(portal, 'alice'));
    await act({ do: 'remove', id });
    const users = [own, other, thief].map(({ cookies }) => signedInAs(portal, cookies));
    expect(await Promise.all(users)).toEqual(['alice', 'alice', null]);
    const [event] = await portal.sql`select steps from audit_event where event = 'passkey-removed'`;
    expect(event?.steps).toContainEqual({ step: 'sessions ended', outcome: '1' });
  });

  it('cannot be added to an account that none would open, and what is there can be removed', async () => {
    await portal.sql`insert into customer (key, name, created_at, passkeys) values ('closed', 'closed', now(), 'off')`;
    await addUser(portal, { username: 'shut', customers: ['closed'] });
    await addUser(portal, { username: 'both', customers: ['closed', 'acme'] });
    await addCustomer(portal, 'resting');
    await addUser(portal, { username: 'rested', customers: ['closed', 'resting'] });
    await portal.sql`update customer set active = false where key = 'resting'`;
    expect(await (await signedIn('rested')).open('?do=enrol')).not.toContain('data-options');
    const enrolling = await (await signedIn('both')).open('?do=enrol');
    expect(enrolling).toContain('data-options');
    await givePasskey(portal, 'shut');
    const [id = ''] = await idsOf('shut');
    const { browser, open, act } = await signedIn('shut');
    const shown = await open('?do=enrol');
    expect(shown).toContain('This account can’t be opened with a passkey.');
    expect([shown.includes('data-options'), shown.includes('Test key')]).toEqual([false, true]);
    const begun = await browser.get('/portal/passkeys/enrol/options', { method: 'POST' });
    expect(begun.statusCode).toBe(409);
    expect((await act({ do: 'remove', id }, '?do=remove')).get('notice')).toBe('passkeyRemoved');
  });

  it('SE-15 is begun on no page of somebody who was signed in before: nothing is left in the authenticator', async () => {
    const earlier = await signedIn('both');
    const theirs = await sessionIdOf(portal, earlier.browser.cookies);
    const { browser } = await signedIn('alice');
    const own = await sessionIdOf(portal, browser.cookies);
    const begin = async (id: string) =>
      (await browser.post('/portal/passkeys/enrol/options', { session: id })).statusCode;
    expect([await begin(theirs), await begin(''), await begin(own)]).toEqual([409, 409, 200]);
  });

  it('is nobody else’s to rename or remove', async () => {
    for (const username of ['alice', 'bob']) await givePasskey(portal, username);
    const [id = ''] = await idsOf('alice');
    const { act } = await signedIn('bob');
    for (const fields of [
      { do: 'rename', id, name: 'mine' },
      { do: 'remove', id },
    ])
      expect((await act(fields)).get('notice')).toBe('passkeyGone');
    expect((await act({ do: 'remove', id: 'x' })).get('notice')).toBe('passkeyGone');
    expect(await portal.sql`select name from passkey`).toEqual([{ name: 'Test key' }, { name: 'Test key' }]);
  });
});

describe('a new passkey', () => {
  async function enrolling() {
    const { browser, open } = await signedIn('alice');
    const session = /name="session" value="([^"]+)"/.exec(await open('?do=enrol'))?.[1] ?? '';
    const begin = async () =>
      await browser.get('/portal/passkeys/enrol/options', { method: 'POST', headers: { accept: 'application/json' } });
    const made = newPasskey({ userHandle: await userHandle(portal, 'alice') });
    const post = (options: { challenge: string }) =>
      browser.post(page, { session, do: 'enrol', credential: enrolmentOf(made, options) });
    return { browser, begin, post };
  }

  it('ends sign-ins that wait without it', async () => {
    const { begin, post } = await enrolling();
    await portal.sql`
      insert into session (token_hash, user_id, stage, waits_for, customer_ids, address, created_at, last_seen_at, ends_at)
      select sha256('half'), user_id, 'half', '{app}', customer_ids, address, created_at, last_seen_at, ends_at from session`;
    await post((await begin()).json());
    expect(await portal.sql`select from passkey`).toHaveLength(1);
    expect(await portal.sql`select stage from session`).toEqual([{ stage: 'full' }]);
  });

  it('is none of a session by a provider, though its browser began it by password: a way in past the provider', async () => {
    const { browser, begin, post } = await enrolling();
    const options = (await begin()).json<{ challenge: string }>();
    await sessionByConnection(portal, 'alice');
    await portal.sql`update portal_user set password_hash = null where username = 'alice'`;
    await post(options);
    expect((await browser.get(`${page}?do=enrol`)).body).toContain('This account can’t be opened with a passkey.');
    expect((await begin()).statusCode).toBe(409);
    expect(await portal.sql`select from passkey`).toHaveLength(0);
    await portal.sql`update portal_user set password_hash = ${await testPasswordHash()} where username = 'alice'`;
  });
});

it('a removed password removes the passkeys: what is left is the provider', async () => {
  const passkey = await givePasskey(portal, 'alice');
  await givePasskey(portal, 'bob');
  const result = await changeUser(portal.sql, 'alice', { passwordHash: null }, portal.by());
  expect(result).toMatchObject({ steps: expect.arrayContaining([{ step: 'passkeys removed', outcome: '1' }]) });
  await signInWithPasskey(browserForTest(portal), passkey);
  const [event] = await portal.sql`select reason from audit_event where event = 'passkey-refused'`;
  expect(event).toEqual({ reason: 'unknown-passkey' });
  expect(await portal.sql`select from passkey`).toHaveLength(1);
});
