import { beforeEach, expect, it } from 'vitest';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { emptyDatabase } from '#testing/empty-tables.ts';
import { givePasskey } from '#testing/passkey-sign-in-for-test.ts';
import { cookiesOf, testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { linkFor } from '#testing/reset-for-test.ts';
import { giveApp } from '#testing/two-factor-for-test.ts';
import { mergeUsers } from './merge-users.ts';

const portal = portalOfFile();
let ids: Record<string, string>;
beforeEach(async () => {
  await emptyDatabase(portal);
  for (const key of ['acme', 'beta']) await addCustomer(portal, key);
  ids = {
    dup: await addUser(portal, { username: 'dup', customers: ['acme', 'beta'] }),
    anna: await addUser(portal, { username: 'anna', customers: ['acme'] }),
  };
});

const merge = (from = 'dup', into = 'anna', isAgreed = true) =>
  mergeUsers(portal.sql, { from, into, isAgreed }, portal.deps.now());

async function addConnection(key: string): Promise<string> {
  const [row] = await portal.sql<{ id: string }[]>`
    insert into sso_connection (key, name, customer_id, protocol, settings, created_at)
    select ${key}, ${key}, id, 'oidc', '{}', now() from customer where key = 'acme' returning id`;
  return row?.id ?? '';
}

const link = (connection: string, user: string, subject: string) =>
  portal.sql`insert into sso_subject values (${connection}, ${subject}, ${ids[user] as string}, now())`;

it('customers, subjects and known browsers move, sessions end, and the names become free', async () => {
  const [one, two] = [await addConnection('one'), await addConnection('two')];
  await link(one, 'dup', 'dup at one');
  await link(two, 'dup', 'dup at two');
  await link(two, 'anna', 'anna at two');
  const browser = cookiesOf(await portal.signIn('dup', testPassword));
  const token = await linkFor(portal, 'dup');
  const anna = cookiesOf(await portal.signIn('anna', testPassword));
  const result = await merge();
  expect(result).toEqual({
    kind: 'merged',
    into: 'anna',
    steps: [
      { step: 'merged from', outcome: 'dup, dup@acme.test' },
      { step: 'customers added', outcome: 'beta' },
      { step: 'connections linked', outcome: 'one' },
      { step: 'links dropped, as there is one already', outcome: 'two' },
      { step: 'known browsers added', outcome: '1' },
      { step: 'sessions ended', outcome: '1' },
    ],
  });
  expect(await portal.sql`select subject, user_id from sso_subject order by subject`).toEqual([
    { subject: 'anna at two', user_id: ids.anna },
    { subject: 'dup at one', user_id: ids.anna },
  ]);
  expect(await portal.sql`select user_id from membership`).toEqual([{ user_id: ids.anna }, { user_id: ids.anna }]);
  expect((await portal.send({ url: '/portal/session', cookies: browser })).statusCode).toBe(401);
  expect((await portal.send({ url: '/portal/session', cookies: anna })).statusCode).toBe(200);
  expect((await portal.signIn('dup', testPassword)).headers.location).toBe('/portal/loginfail/default');
  const change = { method: 'POST', url: '/portal/password/change' } as const;
  const form = { password: 'Harbour-Lantern-77', repeat: 'Harbour-Lantern-77', hash: token };
  expect((await portal.send({ ...change, form })).headers.location).toContain('Failed');
  expect(await portal.sql`select event, username from audit_event where event like 'user-%' order by id`).toEqual([
    { event: 'user-merged', username: 'anna' },
    { event: 'user-removed', username: 'dup' },
  ]);
  await addUser(portal, { username: 'dup' });
});

it('the password and app of the one who stays count, and a remembered device of the other spares no code', async () => {
  await giveApp(portal, 'anna');
  await portal.sql`
    insert into remembered_device (token_hash, user_id, address, made_at, last_used_at, ends_at)
    values (${Buffer.alloc(32, 1)}, ${ids.dup as string}, '192.0.2.1', now(), now(), now() + interval '30 days')`;
  await merge();
  expect(await portal.sql`select from remembered_device`).toHaveLength(0);
  expect((await portal.signIn('anna', testPassword)).headers.location).toContain('/twoFactor');
});

it('the passkeys of the other go with it, which is said before and recorded', async () => {
  await givePasskey(portal, 'dup');
  const said = { step: 'passkeys dropped', outcome: '1' };
  expect(await merge('dup', 'anna', false)).toMatchObject({ steps: expect.arrayContaining([said]) });
  expect(await portal.sql`select from passkey`).toHaveLength(1);
  expect(await merge()).toMatchObject({ steps: expect.arrayContaining([said]) });
  expect(await portal.sql`select from passkey`).toHaveLength(0);
});

it('unless it is agreed to, nothing changes', async () => {
  expect(await merge('dup', 'anna', false)).toMatchObject({ kind: 'notAgreed', into: 'anna' });
  expect(await portal.sql`select from portal_user`).toHaveLength(2);
  expect(await portal.sql`select from membership`).toHaveLength(3);
  expect(await portal.sql`select from audit_event`).toHaveLength(0);
});

it('nobody is merged into themselves, or into nobody', async () => {
  expect(await merge('anna', 'ANNA@acme.test')).toEqual({ kind: 'sameUser' });
  expect(await merge('anna', 'nobody')).toEqual({ kind: 'notFound', name: 'nobody' });
  expect(await merge('nobody', 'anna')).toEqual({ kind: 'notFound', name: 'nobody' });
  expect(await portal.sql`select from portal_user`).toHaveLength(2);
});

it('of two opposite merges at once one wins', async () => {
  const kinds = (await Promise.all([merge('dup', 'anna'), merge('anna', 'dup')])).map(({ kind }) => kind);
  expect(kinds.sort()).toEqual(['merged', 'notFound']);
  expect(await portal.sql`select from portal_user`).toHaveLength(1);
});
