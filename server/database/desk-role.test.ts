import { beforeEach, describe, expect, it } from 'vitest';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { emptyDatabase } from '#test/support/rows-for-test.ts';
import { deskDatabase } from './desk-role.ts';

// PostgreSQL's own wall, without any check of ours before it.

const portal = portalOfFile();
const hash = (letter: string) => `decode(repeat('${letter}', 64), 'hex')`;

/** A row of a person, `p`, in each table that has rows of people. */
const rowsOf: Record<string, string> = {
  former_password: `(user_id, password_hash, replaced_at) values (p, 'x', now())`,
  reset_link: `(token_hash, user_id, made_at, ends_at) values (sha256(p::text::bytea), p, now(), now())`,
  totp: `(user_id, sealed_secret, last_step, confirmed_at) values (p, '', 0, now())`,
  email_factor: `(user_id, confirmed_at) values (p, now())`,
  recovery_code: `(user_id, code_hash) values (p, ${hash('a')})`,
  remembered_device: `(token_hash, user_id, address, made_at, last_used_at, ends_at)
    values (sha256(p::text::bytea), p, '::1', now(), now(), now())`,
  device: `(token_hash, user_id, last_used_at) values (${hash('a')}, p, now())`,
  passkey: `(user_id, credential_id, public_key, rp_id, counter, backup_eligible, backed_up, aaguid, name, made_at)
    values (p, sha256(p::text::bytea), '', '', 0, false, false, gen_random_uuid(), 'key', now())`,
  pending_totp: `(user_id, device_hash, sealed_secret, ends_at) values (p, ${hash('a')}, '', now())`,
  job: `(queue, payload, user_id, run_after, made_at) values ('mail', '{}', p, now(), now())`,
  session: `(token_hash, user_id, stage, customer_ids, address, created_at, last_seen_at, ends_at)
    select sha256(p::text::bytea), p, 'full', array_agg(customer_id), '::1', now(), now(), now() from membership where user_id = p`,
  sso_subject: `(connection_id, subject, user_id, linked_at)
    select id, p::text, p, now() from sso_connection where key = 'idp'`,
};

const people: Record<string, string> = {};
beforeEach(async () => {
  await emptyDatabase(portal);
  for (const key of ['acme', 'beta']) await addCustomer(portal, key);
  people.own = await addUser(portal, { username: 'own', customers: ['acme'] });
  people.shared = await addUser(portal, { username: 'shared', customers: ['acme', 'beta'], groups: ['beta:secret'] });
  people.foreign = await addUser(portal, { username: 'foreign', customers: ['beta'] });
  people.nobodys = await addUser(portal, { username: 'nobodys', customers: [] });
  await portal.sql.unsafe(
    `insert into sso_connection (key, name, customer_id, protocol, settings, created_at) select 'idp', 'idp', id, 'oidc', '{}', now() from customer where key = 'beta'`,
  );
  for (const id of Object.values(people))
    for (const [table, row] of Object.entries(rowsOf)) {
      if (table === 'session' && id === people.nobodys) continue;
      await portal.sql.unsafe(`insert into ${table} ${row.replaceAll(/\bp\b/g, `'${id}'::uuid`)}`);
    }
  await portal.sql`
    insert into audit_event (at, event, customer_key) values (now(), 'x', 'beta'), (now(), 'x', 'acme'), (now(), 'x', null),
      ('2025-01-01', 'of a removed customer that had the key', 'acme')`;
});

/** As an administrator of acme. */
async function atAcme() {
  const [acme] = await portal.sql<{ id: string }[]>`select id from customer where key = 'acme'`;
  return deskDatabase(portal.sql, [acme?.id ?? '']);
}

const nameOf = (id: string) => Object.keys(people).find((name) => people[name] === id) ?? id;

describe('an administrator of one customer, whatever their statement asks for', () => {
  it.each(Object.keys(rowsOf))('reads of %s only the rows of people who are theirs alone', async (table) => {
    const desk = await atAcme();
    const rows = await desk.unsafe<{ user_id: string }[]>(`select user_id from ${table}`);
    // Of a session the address is the customer's own affair, where it opens them.
    const seen = table === 'session' ? ['own', 'shared'] : ['own'];
    expect(rows.map(({ user_id }) => nameOf(user_id)).sort()).toEqual(seen);
    const written = table === 'sso_subject' ? `subject = 'x' || subject` : `user_id = user_id`;
    const { count } = await desk.unsafe(`update ${table} set ${written}`);
    expect(count).toBe(1);
    expect((await desk.unsafe(`delete from ${table}`)).count).toBe(1);
    expect((await portal.sql.unsafe(`select from ${table} where user_id <> '${people.own}'`)).length).toBeGreaterThan(
      1,
    );
  });

  it('reads people, memberships, customers, connections and events of their own customer only', async () => {
    const desk = await atAcme();
    const read = async (text: string) => (await desk.unsafe<{ it: string }[]>(text)).map(({ it }) => it).sort();
    expect(await read('select username as it from portal_user')).toEqual(['own', 'shared']);
    expect(await read('select user_id as it from membership')).toEqual([people.own, people.shared].sort());
    expect(await read('select key as it from customer')).toEqual(['acme']);
    expect(await read('select key as it from sso_connection')).toEqual([]);
    expect(await read('select customer_key as it from audit_event')).toEqual(['acme']);
  });

  it.each([
    ['changes nobody who is somebody else’s too', `update portal_user set email = 'x' where username <> 'own'`],
    ['gives nobody a role', `update portal_user set role = 'operator'`],
    [
      'makes nobody with a role',
      `insert into portal_user (username, email, role, created_at) values ('x', 'x', 'support', now())`,
    ],
    [
      'takes nobody into another customer',
      `update membership set customer_id = (select id from customer where key = 'beta')`,
    ],
    ['gives somebody else no name', `insert into login_name select 'x', id from portal_user where username = 'shared'`],
    [
      'takes no foreign person in and their sessions out',
      `insert into membership (user_id, customer_id) values ('FOREIGN', 'BETA')`,
    ],
  ])('%s', async (_, statement) => {
    const desk = await atAcme();
    const [beta] = await portal.sql<{ id: string }[]>`select id from customer where key = 'beta'`;
    const text = statement.replace('FOREIGN', people.foreign ?? '').replace('BETA', beta?.id ?? '');
    await expect(desk.unsafe(text)).rejects.toThrow(/row-level security|foreign key|null value/);
  });

  it('ends of a shared person’s session their own customer’s part only', async () => {
    const desk = await atAcme();
    expect(await desk`select end_desk_sessions(${people.shared as string}) as n`).toEqual([{ n: 1 }]);
    const left =
      await portal.sql`select array_length(customer_ids, 1) as n from session where user_id = ${people.shared as string}`;
    expect(left).toEqual([{ n: 1 }]);
  });
});

it('every table but counts and names of hubs has its rule', async () => {
  const open = await portal.sql<{ name: string }[]>`
    select relname as name from pg_class
    where relkind = 'r' and relnamespace = current_schema()::regnamespace and not relrowsecurity order by 1`;
  expect(open.map(({ name }) => name)).toEqual(['hub_receiver', 'migration', 'throttle']);
});
