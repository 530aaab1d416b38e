import { beforeEach, describe, expect, it } from 'vitest';
import { addAttackFixtures } from '#test/support/accounts-for-test.ts';
import { enrolmentOf, newPasskey } from '#test/support/passkey-for-test.ts';
import { givePasskey, signInWithPasskey, userHandle } from '#test/support/passkey-sign-in-for-test.ts';
import { testPassword, testPasswordHash } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { browserForTest, sessionByConnection } from '#test/support/sso-for-test.ts';
import { changeUser } from '../accounts/users.ts';

const portal = portalOfFile({ once: addAttackFixtures });

beforeEach(async () => {
  await portal.sql.unsafe(
    'delete from session; delete from throttle; delete from audit_event; delete from passkey; delete from job; delete from device',
  );
  await portal.sql`update portal_user set password_hash = ${await testPasswordHash()} where username = 'alice'`;
});

async function signedIn(username = 'alice') {
  const browser = browserForTest(portal);
  await browser.post('/portal/performlogin', { username, password: testPassword });
  const formAt = async (query: string) =>
    /name="session" value="([^"]+)"/.exec((await browser.get(`/portal/account/passkeys${query}`)).body)?.[1] ?? '';
  const begin = async () =>
    await browser.get('/portal/passkeys/enrol/options', { method: 'POST', headers: { accept: 'application/json' } });
  return { browser, formAt, begin };
}

const reasons = async () =>
  (await portal.sql`select event, reason from audit_event where event like 'passkey%' order by id`).map(
    ({ event, reason }) => `${event} ${reason}`,
  );

it('a new passkey ends sign-ins that wait without it', async () => {
  const { browser, formAt, begin } = await signedIn();
  await portal.sql`
    insert into session (token_hash, user_id, stage, waits_for, customer_ids, address, created_at, last_seen_at, ends_at)
    select sha256('half'), user_id, 'half', '{app}', customer_ids, address, created_at, last_seen_at, ends_at from session`;
  const session = await formAt('?do=enrol');
  const options = (await begin()).json<{ challenge: string }>();
  const made = newPasskey({ userHandle: await userHandle(portal, 'alice') });
  await browser.post('/portal/account/passkeys', { session, do: 'enrol', credential: enrolmentOf(made, options) });
  expect(await portal.sql`select from passkey`).toHaveLength(1);
  expect(await portal.sql`select stage from session`).toEqual([{ stage: 'full' }]);
});

describe('a session by a provider', () => {
  it('adds no passkey, also for a user without a password: it would be a way in past the provider', async () => {
    const { browser, begin } = await signedIn();
    await sessionByConnection(portal, 'alice');
    await portal.sql`update portal_user set password_hash = null where username = 'alice'`;
    const page = await browser.get('/portal/account/passkeys?do=enrol');
    expect(page.body).toContain('This account can’t be opened with a passkey.');
    expect(page.body.includes('data-options')).toBe(false);
    expect((await begin()).statusCode).toBe(409);
  });

  it('adds none that its browser began by password', async () => {
    const { browser, formAt, begin } = await signedIn();
    const session = await formAt('?do=enrol');
    const options = (await begin()).json<{ challenge: string }>();
    const made = newPasskey({ userHandle: await userHandle(portal, 'alice') });
    await sessionByConnection(portal, 'alice');
    await portal.sql`update portal_user set password_hash = null where username = 'alice'`;
    await browser.post('/portal/account/passkeys', { session, do: 'enrol', credential: enrolmentOf(made, options) });
    expect(await portal.sql`select from passkey`).toHaveLength(0);
    expect(await reasons()).toEqual(['passkey-not-added session-over']);
  });
});

it('a removed password removes the passkeys: what is left is the provider', async () => {
  const passkey = await givePasskey(portal, 'alice');
  await givePasskey(portal, 'bob');
  const result = await changeUser(portal.sql, 'alice', { passwordHash: null }, portal.deps.now());
  expect(result).toMatchObject({ steps: expect.arrayContaining([{ step: 'passkeys removed', outcome: '1' }]) });
  await signInWithPasskey(browserForTest(portal), passkey);
  expect(await reasons()).toEqual(['passkey-refused unknown-passkey']);
  expect(await portal.sql`select from passkey`).toHaveLength(1);
  const [event] = await portal.sql`select steps from audit_event where event = 'user-changed'`;
  expect(event?.steps).toContainEqual({ step: 'passkeys removed', outcome: '1' });
});
