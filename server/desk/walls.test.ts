import { beforeEach, describe, expect, it } from 'vitest';
import { customerPath, type DeskAct, deskActs, personPath } from '#contract/desk.ts';
import { sessionIdOf } from '#test/support/account-page-for-test.ts';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { atDesk, getDesk, postDesk } from '#test/support/desk-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { emptyDatabase } from '#test/support/rows-for-test.ts';
import type { Browser } from '#test/support/two-factor-for-test.ts';

// Everybody at the desk tries everything on everybody. What is beta's, and hidden, ends with 9x.

const portal = portalOfFile();
const ofCustomers: readonly DeskAct[] = ['invite', 'import', 'networks', 'policies', 'connection', 'testConnection'];
const ofPersons = deskActs.filter((act) => !ofCustomers.includes(act) && act !== 'customers');
const hidden = /zq\w*9x/;
const people: Record<string, string> = {};

beforeEach(async () => {
  await emptyDatabase(portal);
  const { sql } = portal;
  for (const key of ['acme', 'beta']) await addCustomer(portal, key);
  await sql`update customer set name = 'zqbeta9x' where key = 'beta'`;
  await addUser(portal, { username: 'olga', role: 'operator' });
  await addUser(portal, { username: 'sam', role: 'support' });
  await addUser(portal, { username: 'ada', administers: ['acme'] });
  people.own = await addUser(portal, { username: 'own' });
  people.shared = await addUser(portal, {
    username: 'shared',
    email: 'zqmail9x@beta.test',
    customers: ['acme', 'beta'],
    groups: ['acme:open', 'beta:zqgroup9x'],
  });
  people.foreign = await addUser(portal, { username: 'zqforeign9x', name: 'Zqforeign9x', customers: ['beta'] });
  people.boss = await addUser(portal, { username: 'boss', role: 'operator' });
  await sql`
    insert into sso_connection (key, name, customer_id, protocol, settings, created_at)
    select 'zqidp9x', 'zqidp9x', id, 'oidc', '{"issuer":"https://zqissuer9x.test"}', now() from customer where key = 'beta'`;
  const now = portal.deps.now();
  const ends = new Date(now.getTime() + 3_600_000);
  for (const [name, keys] of [
    ['own', ['acme']],
    ['shared', ['acme', 'beta']],
    ['shared', ['beta']],
    ['foreign', ['beta']],
    ['boss', ['acme']],
  ] as const)
    await sql`
      insert into session (token_hash, user_id, stage, customer_ids, address, browser, created_at, last_seen_at, ends_at)
      select sha256(gen_random_uuid()::text::bytea), ${people[name] ?? ''}, 'full', array_agg(id), '192.0.2.1',
        ${keys.length === 1 && keys[0] === 'beta' ? 'zqbrowser9x' : 'Firefox'}, ${now}, ${now}, ${ends}
      from customer where key = any(${[...keys]}::text[])`;
  await sql`
    insert into audit_event (at, event, reason, user_id, username, customer_key, steps) values
      (${now}, 'sso-refused', 'inactive', ${people.foreign ?? ''}, 'zqforeign9x', 'acme', '[{"step":"user","outcome":"zquser9x"}]'),
      (${now}, 'access-refused', null, ${people.own ?? ''}, 'own', 'acme', '[{"step":"open to groups","outcome":"beta:zqgroup9x"}]'),
      ('2025-01-01', 'signed-in', null, null, 'zqformer9x', 'acme', '[]')`;
  for (const [userId, key, reference] of [
    [people.shared, 'beta', 'AAAA-BBBB'],
    [people.shared, 'acme, beta', 'CCCC-DDDD'],
    [people.shared, 'acme', 'GGGG-HHHH'],
    [people.foreign, 'beta', 'EEEE-FFFF'],
  ] as const)
    await sql`
      insert into audit_event (at, event, reason, reference, user_id, username, customer_key, browser, steps)
      values (${now}, 'sign-in-refused', 'network', ${reference}, ${userId ?? ''}, ${userId === people.foreign ? 'zqforeign9x' : 'shared'},
        ${key}, ${key === 'beta' ? 'zqbrowser9x' : null}, '[{"step":"networks of zqbeta9x","outcome":"zqsteps9x"},{"step":"customers","outcome":"zqkey9x"}]')`;
});

/** What the form of each act says; `key`: of the customer that it names. */
const entriesOf = (key: string): Partial<Record<DeskAct, Record<string, string>>> => ({
  resetFactor: { when: 'now' },
  change: { name: 'Mallory', email: 'mallory@evil.test', language: 'de' },
  groups: { groups: `${key}:new` },
  customers: { customer: key, customers: 'acme beta' },
  role: { role: 'operator' },
  administer: { customer: key, administers: 'on' },
  invite: { email: 'ines@evil.test', groupNames: 'x' },
  networks: { networks: '0.0.0.0/0\n::/0', rehearsed: '0.0.0.0/0 ::/0' },
  policies: { name: 'Taken', twoFactor: 'off', passkeys: 'on', rememberDevices: 'off', newDeviceMail: 'off' },
  connection: { connection: 'zqidp9x', active: 'off' },
  testConnection: { connection: 'zqidp9x' },
});

/** Rows that an administrator of acme must leave as they are. */
const outsideAcme = `
  select 'user', u::text from portal_user u where username in ('zqforeign9x', 'shared', 'boss', 'olga', 'sam', 'ada')
  union all select 'name', n::text from login_name n where user_id not in (select id from portal_user where username in ('own', 'ines@evil.test'))
  union all select 'membership', m::text from membership m where customer_id = (select id from customer where key = 'beta')
  union all select 'factor', t.user_id::text from totp t
  union all select 'session', s.user_id || ' ' || id from session s
    where (select id from customer where key = 'beta') = any(customer_ids) or user_id = (select id from portal_user where username = 'boss')
  union all select 'link', l.user_id::text from reset_link l where user_id not in (select id from portal_user where username in ('own', 'ines@evil.test'))
  union all select 'job', j.user_id::text from job j where user_id not in (select id from portal_user where username in ('own', 'ines@evil.test'))
  union all select 'customer', c::text from customer c where key <> 'acme'
  union all select 'connection', s::text from sso_connection s
  order by 1, 2`;

/** Rows that support must leave as they are: those of operators, and what customers have set. */
const aboveSupport = `
  select 'user', u::text from portal_user u where role = 'operator' or username = 'sam'
  union all select 'session', s.user_id || ' ' || id from session s where user_id = (select id from portal_user where username = 'boss')
  union all select 'customer', c::text from customer c
  union all select 'connection', s::text from sso_connection s
  order by 1, 2`;

async function everyAct(cookies: Browser, check: (what: string, body: string) => Promise<void>): Promise<void> {
  const session = await sessionIdOf(portal, cookies);
  const attempt = async (path: string, act: DeskAct, key: string) => {
    const { body, statusCode } = await postDesk(portal, path, { ...entriesOf(key)[act], session, do: act }, cookies);
    await check(`${act} ${path} ${key} ${statusCode}`, body);
  };
  for (const key of ['beta', 'acme']) {
    for (const id of Object.values(people)) for (const act of ofPersons) await attempt(personPath(id), act, key);
    for (const customer of ['acme', 'beta']) {
      for (const act of ofCustomers) await attempt(customerPath(customer), act, key);
      await attempt(`${customerPath(customer)}/import`, 'import', key);
    }
  }
  for (const key of ['beta', 'acme'])
    for (const id of Object.values(people)) await attempt(personPath(id), 'customers', key);
}

describe.each(['with', 'without'])('%s row-level security an administrator', (wall) => {
  async function asAda(): Promise<Browser> {
    const cookies = await atDesk(portal, 'ada');
    if (wall === 'without') {
      const { within } = portal.deps.sql;
      portal.deps.sql.within = (first) => within(first.replace('set local role vestibule_desk; ', ''));
      restore = () => Object.assign(portal.deps.sql, { within });
    }
    return cookies;
  }
  let restore = () => {};
  beforeEach(() => () => restore());

  it('changes no row of another customer, whatever they try', async () => {
    const cookies = await asAda();
    const before = await portal.sql.unsafe(outsideAcme);
    await everyAct(cookies, async (what, body) => {
      expect(body, what).not.toMatch(hidden);
      expect(await portal.sql.unsafe(outsideAcme), what).toEqual(before);
    });
    // And what was theirs to do was done.
    const [own] = await portal.sql`select email from portal_user where id = ${people.own ?? ''}`;
    expect(own?.email).toBe('mallory@evil.test');
  });

  it('is shown nothing of another customer, wherever they look', async () => {
    const cookies = await asAda();
    const pages = [
      ...[
        '',
        '?q=zqfore',
        '?q=zqmail',
        '?q=zqbet',
        '?q=shared',
        '?q=EEEE-FFFF',
        '?q=AAAA-BBBB',
        '?q=CCCC-DDDD',
        '/customers',
      ],
      ...['/customers/acme', '/customers/acme?person=zq', '/customers/beta', '/customers/beta/import'],
      ...['/events', '/events?customer=beta', '/events?person=zqforeign', '/events?person=shared'],
      ...['/events.csv', '/events.jsonl', '/events.csv?customer=beta', '/events.jsonl?customer=beta'],
      ...Object.values(people).flatMap((id) =>
        ['', '?reference=AAAA-BBBB', '?reference=CCCC-DDDD', '?reference=EEEE-FFFF', '?reference=GGGG-HHHH'].map(
          (query) => personPath(id) + query,
        ),
      ),
    ];
    for (const page of pages) {
      const { body, statusCode } = await getDesk(portal, page, cookies);
      expect(statusCode, page).toBe(page.includes('beta') || page.includes(people.foreign ?? '') ? 404 : 200);
      expect(body, page).not.toMatch(hidden);
    }
  });
});

it('support changes nothing of an operator, and nothing that a customer has set', async () => {
  const cookies = await atDesk(portal, 'sam');
  const before = await portal.sql.unsafe(aboveSupport);
  await everyAct(cookies, async (what) => expect(await portal.sql.unsafe(aboveSupport), what).toEqual(before));
});

it('nobody at the desk acts on themselves', async () => {
  for (const username of ['olga', 'sam', 'ada']) {
    const cookies = await atDesk(portal, username);
    const session = await sessionIdOf(portal, cookies);
    const [me] = await portal.sql<{ id: string }[]>`select id from portal_user where username = ${username}`;
    for (const act of ofPersons) {
      const { statusCode } = await postDesk(
        portal,
        personPath(me?.id ?? ''),
        { ...entriesOf('acme')[act], session, do: act },
        cookies,
      );
      expect(statusCode, `${username} ${act}`).toBe(404);
    }
  }
});
