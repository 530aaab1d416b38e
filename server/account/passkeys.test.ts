import { beforeEach, describe, expect, it } from 'vitest';
import { sessionIdOf } from '#test/support/account-page-for-test.ts';
import { addAttackFixtures, addCustomer, addUser, signedInAs } from '#test/support/accounts-for-test.ts';
import { givePasskey, signInWithPasskey } from '#test/support/passkey-sign-in-for-test.ts';
import { testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { browserForTest } from '#test/support/sso-for-test.ts';

const portal = portalOfFile({ once: addAttackFixtures });
const page = '/portal/account/passkeys';

beforeEach(async () => {
  await portal.sql.unsafe(
    'delete from session; delete from throttle; delete from audit_event; delete from passkey; delete from job',
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
    const events = await portal.sql`select event, username from audit_event where event like 'passkey%'`;
    expect(events).toEqual([{ event: 'passkey-renamed', username: 'alice' }]);
  });

  it.each(['', '   ', 'x'.repeat(61), 'a\u202eb', 'a\nb'])('is not renamed to %j', async (name) => {
    await givePasskey(portal, 'alice');
    const [id = ''] = await idsOf('alice');
    const { act } = await signedIn('alice');
    expect((await act({ do: 'rename', id, name })).get('notice')).toBe('passkeyName');
    expect(await portal.sql`select name from passkey`).toEqual([{ name: 'Test key' }]);
    const refused = await portal.sql`select event, reason from audit_event where event <> 'signed-in'`;
    const event = { event: 'account-change-refused', reason: 'entry-refused' };
    expect(refused).toEqual([event]);
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
    expect([enrolling.includes('data-options'), enrolling.includes('data-known')]).toEqual([true, true]);
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

  it('is not renamed, nor are others added, again and again', async () => {
    await givePasskey(portal, 'alice');
    const [id = ''] = await idsOf('alice');
    const { act } = await signedIn('alice');
    for (let at = 0; at < 11; at += 1) {
      await act({ do: 'rename', id, name: `Key ${at}` });
      await act({ do: 'enrol', credential: '{}' }, '?do=enrol');
    }
    expect(await portal.sql`select name from passkey`).toEqual([{ name: 'Key 9' }]);
    const waits = await portal.sql`select reason from audit_event where event = 'account-change-refused'`;
    expect(waits).toEqual([{ reason: 'throttled-changes' }, { reason: 'throttled-changes' }]);
    const tried = await portal.sql`select from audit_event where event = 'passkey-not-added'`;
    expect(tried).toHaveLength(10);
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
