import { beforeEach, expect, it } from 'vitest';
import en from '#messages/en.json' with { type: 'json' };
import { signedIn } from '#test/support/account-page-for-test.ts';
import { addCustomer, addUser, signedInAs } from '#test/support/accounts-for-test.ts';
import { atDesk, getDesk, postDesk } from '#test/support/desk-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { emptyDatabase } from '#test/support/rows-for-test.ts';
import { type Browser, giveApp } from '#test/support/two-factor-for-test.ts';

const portal = portalOfFile();
let alice: string;
let bert: string;
beforeEach(async () => {
  await emptyDatabase(portal);
  for (const key of ['acme', 'globex']) await addCustomer(portal, key);
  await addUser(portal, { username: 'sam', role: 'support' });
  await addUser(portal, { username: 'ada', administers: ['acme'] });
  alice = await addUser(portal, { username: 'alice', groups: ['acme:finance'] });
  const both = { username: 'bert', email: 'bert@globex.test', name: 'Bert', customers: ['acme', 'globex'] };
  bert = await addUser(portal, { ...both, groups: ['acme:sales', 'globex:moonshot'] });
});

const pageOf = async (id: string, cookies: Browser, query = '') =>
  await getDesk(portal, `/people/${id}${query}`, cookies);
const act = async (id: string, form: Record<string, string>, cookies: Browser) =>
  await postDesk(portal, `/people/${id}`, form, cookies);

/** Signs in with a wrong password; returns the reference of the refusal. */
async function failedSignIn(username: string, password: string): Promise<string> {
  await portal.signIn(username, password);
  const [event] =
    await portal.sql`select reference from audit_event where event = 'sign-in-refused' order by id desc limit 1`;
  return event?.reference;
}

it('support takes a reference to the reason, and lifts the wait', async () => {
  const sam = await atDesk(portal, 'sam');
  for (let wrong = 1; wrong <= 5; wrong += 1) await failedSignIn('alice', `wrong ${wrong}`);
  const reference = await failedSignIn('alice', 'wrong 6');
  const { body } = await pageOf(alice, sam, `?reference=${reference.toLowerCase()}`);
  expect(body).toContain(en['desk-why-throttled-account']);
  expect(body).toContain(en['desk-step-browser-new']);
  expect(body.match(/class="button"/g)).toHaveLength(1);
  expect(body).toMatch(/class="button" type="submit">Lift the wait</);

  const { statusCode, headers } = await act(alice, { do: 'liftWait' }, sam);
  expect(statusCode).toBe(303);
  const after = await portal.send({ url: headers.location ?? '', cookies: sam, headers: { accept: 'text/html' } });
  expect(after.body).toContain(en['event-user-unlocked']);
  expect(await signedInAs(portal, await signedIn(portal, 'alice'))).toBe('alice');
});

it('a reference of somebody else says nothing', async () => {
  const sam = await atDesk(portal, 'sam');
  const reference = await failedSignIn('bert', 'wrong');
  expect((await pageOf(bert, sam, `?reference=${reference}`)).body).toContain('id="why"');
  expect((await pageOf(alice, sam, `?reference=${reference}`)).body).not.toContain('id="why"');
});

it('a reference of a request is found however many events came since', async () => {
  const sam = await atDesk(portal, 'sam');
  await failedSignIn('alice', 'wrong');
  const [event] = await portal.sql`select request_id from audit_event where event = 'sign-in-refused'`;
  await portal.sql`
    insert into audit_event (at, event, user_id) select now(), 'signed-out', ${alice} from generate_series(1, 60)`;
  expect((await pageOf(alice, sam, `?reference=${event?.request_id.slice(0, 8)}`)).body).toContain('id="why"');
});

it('an administrator sees of a shared person what is of their own customer, and ends its sessions only', async () => {
  const ada = await atDesk(portal, 'ada');
  const cookies = await signedIn(portal, 'bert');
  const { body } = await pageOf(bert, ada);
  expect(body).toContain('sales');
  const hidden = ['bert@globex.test', 'globex', 'moonshot', 'id="now"', en['desk-factors']];
  expect(hidden.filter((text) => body.includes(text))).toEqual([]);
  expect([...body.matchAll(/name="do" value="(\w+)"/g)].map(([, act]) => act)).toEqual([
    'endSessions',
    'groups',
    'administer',
    'customers',
  ]);

  await act(bert, { do: 'groups', groups: 'acme:board' }, ada);
  await act(bert, { do: 'endSessions' }, ada);
  const [row] = await portal.sql`
    select array(select groups::text from membership where user_id = ${bert} order by 1) as groups,
      array(select c.key from session s join customer c on c.id = any(s.customer_ids) where s.user_id = ${bert}) as customers`;
  expect(row).toEqual({ groups: ['{board}', '{moonshot}'], customers: ['globex'] });
  expect(await signedInAs(portal, cookies)).toBe('bert');
});

it('an administrator takes somebody out of their customer, and sees them no longer', async () => {
  const ada = await atDesk(portal, 'ada');
  const { headers } = await act(bert, { do: 'customers', customer: 'acme' }, ada);
  expect(headers.location).toMatch(/^\/portal\/desk\/customers\/acme\?done=/);
  expect((await pageOf(bert, ada)).statusCode).toBe(404);
});

it('what is not of an administrator does not exist for them, and is recorded', async () => {
  const ada = await atDesk(portal, 'ada');
  const carl = await addUser(portal, { username: 'carl', customers: ['globex'] });
  for (const id of [carl, crypto.randomUUID(), 'alice']) expect((await pageOf(id, ada)).statusCode).toBe(404);
  for (const action of ['change', 'resetFactor', 'deactivate', 'role'])
    expect((await act(bert, { do: action, name: 'x', email: 'x@acme.test' }, ada)).statusCode).toBe(404);
  const refused = await portal.sql`select username from audit_event where event = 'desk-refused'`;
  expect(refused.map(({ username }) => username)).toEqual(Array(7).fill('ada'));
});

it('the second of two who change a person at once is told', async () => {
  const [sam, ada] = [await atDesk(portal, 'sam'), await atDesk(portal, 'ada')];
  const { body } = await pageOf(alice, ada);
  const seen = /name="seen" value="(\d*)"/.exec(body)?.[1] ?? '';
  const change = { do: 'change', email: 'alice@acme.test', language: '' };
  expect((await act(alice, { ...change, name: 'Alice A.' }, sam)).statusCode).toBe(303);
  const second = await act(alice, { ...change, name: 'Alice B.', seen }, ada);
  expect(second.statusCode).toBe(409);
  expect(second.body).toContain(en['desk-notice-changedMeanwhile']);
  expect(second.body).toContain('<h1>Alice A.</h1>');
});

it('what was typed comes back with why it was refused', async () => {
  const sam = await atDesk(portal, 'sam');
  const { statusCode, body } = await act(alice, { do: 'groups', groups: 'globex:moonshot' }, sam);
  expect([statusCode, body.includes(en['desk-refused-groups']), body.includes('>globex:moonshot<')]).toEqual([
    400,
    true,
    true,
  ]);
});

it('a second factor is reset in an hour by support, which can stop it, and at once by an operator', async () => {
  await giveApp(portal, 'alice');
  await addUser(portal, { username: 'olga', role: 'operator' });
  const [sam, olga] = [await atDesk(portal, 'sam'), await atDesk(portal, 'olga')];
  const has = async () => (await portal.sql`select from totp where user_id = ${alice}`).length;
  await act(alice, { do: 'resetFactor', when: 'now' }, sam);
  expect([await has(), (await pageOf(alice, sam)).body.includes('value="keepFactor"')]).toEqual([1, true]);
  expect((await act(alice, { do: 'keepFactor' }, sam)).statusCode).toBe(303);
  await act(alice, { do: 'resetFactor', when: 'now' }, olga);
  expect(await has()).toBe(0);
});

it('a role is given by who has it', async () => {
  const sam = await atDesk(portal, 'sam');
  expect((await act(alice, { do: 'role', role: 'operator' }, sam)).statusCode).toBe(400);
  expect((await act(alice, { do: 'role', role: 'support' }, sam)).statusCode).toBe(303);
  expect((await act(alice, { do: 'administer', customer: 'acme', administers: 'on' }, sam)).statusCode).toBe(404);
  expect(await portal.sql`select role from portal_user where id = ${alice}`).toEqual([{ role: 'support' }]);
});

it('markup in a name is text', async () => {
  const sam = await atDesk(portal, 'sam');
  const id = await addUser(portal, { username: 'eve', name: '<script>alert(1)</script>', groups: ['acme:<b>'] });
  const { body } = await pageOf(id, sam);
  expect([body.includes('<script>alert'), body.includes('acme:<b>'), body.includes('&lt;script&gt;alert(1)')]).toEqual([
    false,
    false,
    true,
  ]);
});
