import { beforeEach, expect, it } from 'vitest';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { atDesk, getDesk, postDesk } from '#test/support/desk-for-test.ts';
import { testAddress } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { emptyDatabase } from '#test/support/rows-for-test.ts';
import { addSamlConnection, samlProvider } from '#test/support/saml-for-test.ts';
import { addOidcConnection } from '#test/support/sso-for-test.ts';
import type { Browser } from '#test/support/two-factor-for-test.ts';
import { day } from '../limits.ts';

const portal = portalOfFile();
let ada: Browser;
beforeEach(async () => {
  await emptyDatabase(portal);
  await addCustomer(portal, 'acme');
  await addCustomer(portal, 'elm');
  await addUser(portal, { username: 'olga', role: 'operator', customers: ['elm'] });
  await addUser(portal, { username: 'ada', administers: ['acme'], customers: ['acme', 'elm'] });
  ada = await atDesk(portal, 'ada');
});

const page = '/customers/acme';
const shown = async (path = page, cookies = ada) => (await getDesk(portal, path, cookies)).body;
const post = (form: Record<string, string>, cookies = ada) => postDesk(portal, page, form, cookies);
/** What the page that an act leads to says was done, or why it was not. */
async function said(answer: { statusCode: number; body: string; headers: { location?: unknown } }) {
  const { statusCode, body, headers } = answer;
  const shown = statusCode === 303 ? (await portal.send({ url: String(headers.location), cookies: ada })).body : body;
  return /role="alert"[^>]*>(.*?)<\/div>/s.exec(shown)?.[1]?.replaceAll(/<[^>]*>/g, '');
}
const customerNow = async () =>
  (
    await portal.sql`select name, two_factor, passkeys, active, allowed_networks::text[] as networks from customer where key = 'acme'`
  )[0];
const events = async () =>
  (
    await portal.sql`select event, customer_key as customer, actor from audit_event where actor is not null order by id`
  ).map(({ event, customer, actor }) => [event, customer, actor]);

it('an operator sees every customer in the list, an administrator their own', async () => {
  const keys = async (cookies: Browser) =>
    [...(await shown('/customers', cookies)).matchAll(/customers\/(\w+)/g)].map(([, key]) => key);
  expect(await keys(await atDesk(portal, 'olga'))).toEqual(['acme', 'elm']);
  expect(await keys(ada)).toEqual(['acme']);
});

it('another customer is not there, and that somebody asked for it is recorded', async () => {
  expect((await getDesk(portal, '/customers/elm', ada)).statusCode).toBe(404);
  expect(await portal.sql`select steps from audit_event where event = 'desk-refused'`).toMatchObject([
    { steps: [{ step: 'page', outcome: '/portal/desk/customers/elm' }] },
  ]);
});

it('people are filtered by name and state; of somebody with other customers no factor is told', async () => {
  await addUser(portal, { username: 'grace', name: '<b>Grace</b> Öz', active: false });
  const people = async (query: string) =>
    [...(await shown(`${page}?${query}`)).matchAll(/desk\/people\/[^>]*>(.*?)<\/a>/g)].map(([, name]) => name);
  expect(await people('')).toHaveLength(2);
  expect(await people('person=oz&state=inactive')).toEqual(['&lt;b&gt;Grace&lt;/b&gt; Öz']);
  expect(await people('state=noFactor')).toEqual([]);
  expect(await people('person=nobody')).toEqual([]);
});

it('somebody is invited, with groups of this customer, unless somebody has the address', async () => {
  const form = { do: 'invite', email: 'grace@acme.test', name: 'Grace', groupNames: 'finance\r\nDomain Users' };
  expect(await said(await post(form))).toMatch(/^Invited by email [A-Z0-9]{4}-/);
  await portal.workOff();
  expect(portal.mails.map(({ recipient }) => recipient)).toContain('grace@acme.test');
  expect(
    await portal.sql`
      select username, name, groups from portal_user join membership on user_id = id where email = 'grace@acme.test'`,
  ).toEqual([{ username: 'grace@acme.test', name: 'Grace', groups: ['Domain Users', 'finance'] }]);
  expect(await events()).toEqual([
    ['user-added', 'acme', 'user:ada'],
    ['invited', 'acme', 'user:ada'],
  ]);
  for (const email of ['grace@acme.test', 'ada@acme.test', 'nobody'])
    expect(await said(await post({ ...form, email }))).toContain('somebody else has it');
});

it('nobody is added who cannot be invited', async () => {
  await portal.sql`update customer set active = false where key = 'acme'`;
  const olga = await atDesk(portal, 'olga');
  expect(await said(await post({ do: 'invite', email: 'grace@acme.test' }, olga))).toContain('Nobody was invited');
  expect(await portal.sql`select from portal_user where email = 'grace@acme.test'`).toEqual([]);
});

it('networks are saved after a rehearsal against the sign-ins of last week', async () => {
  const nia = await addUser(portal, { username: 'nia', name: '<i>Nia</i>' });
  const add = (address: string, count: number, daysAgo = 1) => portal.sql`
    insert into audit_event (at, event, user_id, username, customer_key, address)
    select ${new Date(portal.deps.now().getTime() - daysAgo * day)}, 'signed-in', ${nia}, 'nia', 'acme, elm', ${address}
    from generate_series(1, ${count})`;
  await portal.sql`delete from audit_event`;
  await Promise.all([add('203.0.113.7', 2), add('192.0.2.61', 1), add('198.51.100.9', 7), add('203.0.113.9', 5, 8)]);
  const networks = '198.51.100.0/24\n2001:db8::/32';
  const { body, statusCode } = await post({ do: 'networks', networks });
  expect(statusCode).toBe(200);
  expect(/<strong>(.*?)<\/strong>/.exec(body)?.[1]).toMatch(
    /^Of last week’s 10 sign.ins, these 3 would have been refused.$/,
  );
  expect([...body.matchAll(/&lt;i&gt;Nia&lt;\/i&gt;<\/a> <span class="soft">([\d.]+)/g)].map(([, at]) => at)).toEqual([
    '203.0.113.7',
    '192.0.2.61',
  ]);
  expect(body).not.toContain('own address');
  expect(await customerNow()).toMatchObject({ networks: [] });

  const rehearsed = /value="([^"]*)" name="rehearsed"/.exec(body)?.[1] ?? '';
  const elsewhere = await post({ do: 'networks', networks: '192.0.2.0/24', rehearsed });
  expect(elsewhere.body).toContain('own address');
  expect((await post({ do: 'networks', networks, rehearsed })).statusCode).toBe(303);
  expect(await customerNow()).toMatchObject({ networks: ['198.51.100.0/24', '2001:db8::/32'] });
  expect(await said(await post({ do: 'networks', networks: `${testAddress}/8` }))).toContain('a network such as');
});

it('policies are changed; of two changes the second is told, and only operators turn a customer off', async () => {
  const asIs = { passkeys: 'on', rememberDevices: 'on', newDeviceMail: 'off', active: 'off' };
  const form = { do: 'policies', name: 'Acme <b>', twoFactor: 'app', ...asIs };
  const seen = /name="seen" value="([^"]*)"/.exec(await shown())?.[1] ?? '';
  expect((await post(form)).statusCode).toBe(303);
  expect(await customerNow()).toMatchObject({ name: 'Acme <b>', two_factor: 'app', active: true });
  const late = await post({ ...form, twoFactor: 'off', seen });
  expect([late.statusCode, await said(late)]).toEqual([409, expect.stringContaining('somebody else has changed')]);
  expect(late.body).toContain('<h1>Acme &lt;b&gt;</h1>');
  expect(await customerNow()).toMatchObject({ two_factor: 'app' });
  expect(await said(await post({ ...form, passkeys: 'maybe' }))).toContain('a policy isn’t valid');
  expect((await post(form, await atDesk(portal, 'olga'))).statusCode).toBe(303);
  expect(await customerNow()).toMatchObject({ active: false });
});

it('a connection shows what ends soon, is tested, and is turned off unless that locks people out', async () => {
  const provider = { issuer: 'http://127.0.0.1:1', clientId: 'vestibule', clientSecret: 'secret' };
  const secretEndsAt = new Date(portal.deps.now().getTime() + 12 * day);
  const connection = await addOidcConnection(portal, provider, { secretEndsAt });
  await portal.sql`
    insert into session (token_hash, user_id, stage, customer_ids, connection_id, address, created_at, last_seen_at, ends_at)
    select sha256('a'), m.user_id, 'full', array[c.id], ${connection}, '::1', now(), now(), now() + interval '1 year'
    from membership m join customer c on c.id = m.customer_id where m.administers`;
  await addOidcConnection(portal, provider, { key: 'other', customerKey: 'elm', name: 'Not to be seen' });
  // Certificates in these tests are valid for three years.
  const old = await samlProvider('old.test', new Date(secretEndsAt.getTime() - 3 * 365 * day));
  await addSamlConnection(portal, old, { key: 'old', domains: ['old.test'] });
  const body = await shown();
  for (const what of ['secret', 'certificate'])
    expect(body).toMatch(new RegExp(`<p class="state warn"><span>[^<]*${what}[^<]*<time`));
  expect(body).not.toContain('Not to be seen');
  const tested = await post({ do: 'testConnection', connection: 'acme-oidc' });
  expect(tested.body).toContain('<span class="state bad">discovery</span>');
  const off = { do: 'connection', connection: 'acme-oidc', active: 'off' };
  for (const act of ['connection', 'testConnection'])
    expect((await post({ ...off, do: act, connection: 'other' })).statusCode).toBe(404);
  await portal.sql`update sso_connection set required = true where key = 'acme-oidc'`;
  expect(await said(await post(off))).toContain('nobody there could sign in');
  await portal.sql`update sso_connection set required = false`;
  expect((await post(off)).statusCode).toBe(303);
  expect(await portal.sql`select key from sso_connection where not active`).toEqual([{ key: 'acme-oidc' }]);
  expect(await portal.sql`select from session where connection_id is not null`).toEqual([]);
});
