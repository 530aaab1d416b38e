import { beforeEach, expect, it } from 'vitest';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { atDesk, getDesk, postDesk } from '#test/support/desk-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { emptyDatabase } from '#test/support/rows-for-test.ts';
import type { Browser } from '#test/support/two-factor-for-test.ts';
import { importQueue } from '../accounts/run-import.ts';
import { jobsOf } from '../jobs/job.ts';
import { day, minute } from '../limits.ts';
import { keepHouse } from '../operations/housekeeping.ts';

const portal = portalOfFile();
let ada: Browser;
beforeEach(async () => {
  await emptyDatabase(portal);
  for (const key of ['acme', 'beta']) await addCustomer(portal, key);
  await addUser(portal, { username: 'ada', administers: ['acme'] });
  await addUser(portal, { username: 'ben', customers: ['beta'] });
  await addUser(portal, { username: 'both', customers: ['acme', 'beta'] });
  ada = await atDesk(portal, 'ada');
});

const page = '/customers/acme/import';
const upload = async (file: string | Uint8Array<ArrayBuffer>, cookies = ada) => {
  const form = new FormData();
  form.set('session', /name="session" value="([^"]*)"/.exec((await getDesk(portal, page, cookies)).body)?.[1] ?? '');
  form.set('do', 'import');
  form.set('file', new Blob([file]), 'people.csv');
  const sent = new Response(form);
  const headers = { 'content-type': sent.headers.get('content-type') ?? '' };
  const body = Buffer.from(await sent.arrayBuffer()) as unknown as string;
  return await portal.send({ method: 'POST', url: `/portal/desk${page}`, body, headers, cookies });
};
const work = () => jobsOf(portal.deps, importQueue(portal.deps))();
const workOff = async () => {
  while ((await work()) === 'more');
};
const show = async (cookies = ada) => (await getDesk(portal, page, cookies)).body;
const run = async (body: string) =>
  await postDesk(portal, page, { do: 'import', import: /name="import" value="([^"]*)"/.exec(body)?.[1] ?? '' }, ada);
const people = async () =>
  (await portal.sql`select username from portal_user where username like 'p%' order by 1`).map(
    ({ username }) => username,
  );
const csvOf = (count: number) =>
  `email\n${Array.from({ length: count }, (_, n) => `p${n}@${'x'.repeat(60)}.test`).join('\n')}\n`;

it('shows what a file would do, then does it, and records it once', async () => {
  const csv =
    '\ufeffEmail;Username;Name;Groups\r\np1@acme.test;p1;"Pia\r\nBerg";acme:hr\r\np2@acme.test;p2;Per;acme:hr, acme:it\r\n;p3;;\r\n';
  expect((await getDesk(portal, '/customers/acme', ada)).body).toContain(`href="/portal/desk${page}"`);
  expect((await upload(csv)).statusCode).toBe(303);
  expect(await show()).toContain('http-equiv="refresh"');
  await workOff();
  const preview = await show();
  expect(preview).toContain('Would be added: 1. Already there: 0. Lines refused: 2.');
  expect(preview).toContain('email: is missing');
  expect([await people(), await portal.sql`select from audit_event where event like 'user%'`]).toEqual([[], []]);
  const { headers } = await run(preview);
  // A second form of the same page finds it begun.
  expect((await run(preview)).statusCode).toBe(409);
  await workOff();
  expect(await people()).toEqual(['p2']);
  const [member] = await portal.sql`
    select groups from membership m join portal_user u on u.id = m.user_id where u.username = 'p2'`;
  expect(member?.groups).toEqual(['hr', 'it']);
  const after = await getDesk(portal, String(headers.location).replace('/portal/desk', ''), ada);
  expect(after.body).toMatch(/People added from a file.*Added: 1\. Already there: 0\. Lines refused: 2\./s);
  expect(
    await portal.sql`select event, customer_key, actor from audit_event where event like 'user%' order by id`,
  ).toEqual([
    { event: 'user-imported', customer_key: 'acme', actor: 'user:ada' },
    { event: 'users-imported', customer_key: 'acme', actor: 'user:ada' },
  ]);
  portal.wait(day + minute);
  await keepHouse(portal.deps);
  expect(await portal.sql`select from user_import`).toEqual([]);
});

it('takes nobody over who is not the customer’s alone, and says no more of them', async () => {
  const lines = [
    'ben@acme.test,ben,Ben,acme,,',
    'new@acme.test,BEN,,,,',
    'both@acme.test,both,Other,acme,,',
    'ada@acme.test,ada,Ada,acme,,',
    'p1@acme.test,p1,,beta,,',
    'p2@acme.test,p2,,,beta:hr,',
    'p3@acme.test,p3,,,,$2b$06$lXXXRQ/f6byA74HeWwUFOuykdy8oCY4ma3eir8v5PbY1UQSnpBReC',
    'p4@acme.test,p4,,acme,acme:hr,',
  ];
  await upload(`email,username,name,customers,groups,passwordHash\n${lines.join('\n')}`);
  await workOff();
  const [before] = await portal.sql`select added, refused from user_import`;
  const refusals = before?.refused.map(({ line, problem }: { line: number; problem: string }) => `${line} ${problem}`);
  expect(refusals).toEqual([
    '2 username: another user has it',
    '3 username: another user has it',
    '4 username: another user has it',
    '5 name: the user is there already, with other values: name',
    '6 customers: must be acme, or empty',
    '7 groups: beta:hr is not of a customer of the user',
    '8 passwordHash: must be empty: whoever is added chooses a password by an invitation',
  ]);
  await run(await show());
  await workOff();
  const [after] = await portal.sql`select added, refused from user_import`;
  expect([after, await people()]).toEqual([before, ['p4']]);
});

it('goes on in another instance where one has died, and adds nobody twice', async () => {
  await upload(csvOf(3000));
  await workOff();
  await run(await show());
  await work();
  await work();
  const [middle] = await portal.sql`select stage, read, read_bytes, added, lines from user_import`;
  expect(middle).toMatchObject({ stage: 'running', lines: 3000, added: middle?.read });
  expect(middle?.read).toBeLessThan(3000);
  await work();
  // What the last job has stored, it could not say; and an earlier one was not deleted when it was over.
  await portal.sql`update user_import set read = ${middle?.read}, read_bytes = ${middle?.read_bytes}, added = ${middle?.added}`;
  await portal.sql`insert into job (queue, payload, run_after, made_at) select queue, payload, run_after, made_at from job`;
  expect(await show()).toContain('<progress');
  await upload(csvOf(1));
  await workOff();
  const [end] =
    await portal.sql`select stage, read, added + unchanged as people, length(file) as bytes from user_import`;
  expect(end).toEqual({ stage: 'done', read: 3000, people: 3000, bytes: 0 });
  expect(await people()).toHaveLength(3000);
  expect(await portal.sql`select from audit_event where event = 'users-imported'`).toHaveLength(1);
});

it('refuses a file that is not UTF-8, empty, too long, of unknown columns, or anybody else’s to send', async () => {
  expect((await upload(Uint8Array.of(0xf6))).body).toMatch(/isn’t.UTF-8/);
  expect((await upload('')).statusCode).toBe(400);
  expect((await upload('a\r'.repeat(7_000_000))).body).toMatch(/more.than.100,000.lines/);
  await upload('email,passwort\np1@acme.test,x');
  expect(await show()).toContain('has the unknown field: &quot;passwort&quot;');
  await addUser(portal, { username: 'sam', role: 'support' });
  expect((await upload(csvOf(1), await atDesk(portal, 'sam'))).statusCode).toBe(404);
  const { statusCode } = await getDesk(portal, '/customers/beta/import', ada);
  expect(statusCode).toBe(404);
});

it('checks only so many files in a row', async () => {
  const statuses = [];
  for (let file = 0; file < 11; file += 1) {
    statuses.push((await upload(csvOf(1))).statusCode);
    await workOff();
  }
  expect(statuses).toEqual([...Array(10).fill(303), 400]);
});

it('asks for a proof before the file is chosen', async () => {
  portal.wait(11 * minute);
  expect(await show()).not.toContain('type="file"');
  expect((await postDesk(portal, page, { do: 'import' }, ada)).body).toContain('name="code"');
});
