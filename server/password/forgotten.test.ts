import type { Response } from 'light-my-request';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { connect, type Database } from '#server/storage/connect.ts';
import { listeningPortal } from '#server/testing/listening-portal.ts';
import { type PortalForTest, portalForTest } from '#server/testing/portal-for-test.ts';
import { askForReset, startAfresh } from '#server/testing/reset-for-test.ts';

let portal: PortalForTest;
/** For what a test does beside it. */
let aside: Database;
beforeAll(async () => {
  const made = await portalForTest();
  portal = made;
  aside = connect(made.database.place);
});
beforeEach(() => startAfresh(portal));
afterAll(async () => {
  await aside.end();
  await portal.close();
});

const script = { headers: { accept: '*/*' } };

/** Everything that a visitor can see of an answer, but for the time. */
function seen({ statusCode, rawPayload, headers }: Response) {
  return { statusCode, body: rawPayload.toString('hex'), headers: { ...headers, date: '' } };
}

/** Of every kind: known by e-mail or as a second account, unknown, and those to whom no link is sent. */
const names = ['alice', 'carol', 'nobody', 'dave', 'erin', 'frank', 'sso-only'].map((name) => `${name}@acme.test`);

it('EN-05 every name gets the same answer, to the byte', async () => {
  for (const more of [{}, script]) {
    const answers = await Promise.all(names.map((name) => askForReset(portal, name, more)));
    for (const answer of answers) expect(seen(answer)).toEqual(seen(answers[0] as Response));
  }
  const page = await askForReset(portal, 'alice@acme.test');
  expect([page.statusCode, page.headers.location, page.body]).toEqual([303, '/portal/emailInfo', '']);
  const call = await askForReset(portal, 'nobody@acme.test', script);
  expect([call.statusCode, call.body, call.headers['set-cookie']]).toEqual([204, '', undefined]);
  const inGerman = await askForReset(portal, 'nobody@acme.test', { url: '/portal/password/forgotten?lang=de' });
  expect(inGerman.headers.location).toBe('/portal/emailInfo?lang=de');
});

it('EN-05 nothing is looked up or queued before the answer: it comes while every table about users is out of reach', async () => {
  await aside.begin(async (sql) => {
    await sql`
      lock table portal_user, login_name, membership, customer, reset_link, mail, audit_event, session, device
      in access exclusive mode`;
    for (const name of names) expect((await askForReset(portal, name)).statusCode).toBe(303);
  });
  expect(await portal.sql`select from mail`).toHaveLength(0);
  expect(await portal.sql`select from audit_event`).toHaveLength(0);
  const waiting =
    await portal.sql`select fold, language, host(address) as address, asked_at from reset_request order by id`;
  const asked = { language: 'en', address: '198.51.100.7', asked_at: portal.deps.now() };
  expect(waiting).toEqual(names.map((fold) => ({ fold, ...asked })));
});

it('EN-05 the work on it begins when the answer has left, and only where something was kept', async () => {
  const answer = Promise.withResolvers<void>();
  const wake = vi.fn(() => answer.resolve());
  portal.deps.wake.resetRequests = wake;
  await askForReset(portal, 'nobody@acme.test');
  await answer.promise;
  for (const bad of ['nobody', 'a b@acme.test']) await askForReset(portal, bad);
  await portal.sql`delete from reset_request`;
  await portal.sql`update throttle set blocked_until = ${new Date(portal.deps.now().getTime() + 1)}`;
  expect((await askForReset(portal, 'nobody@acme.test')).statusCode).toBe(429);
  await new Promise(setImmediate);
  expect(wake).toHaveBeenCalledTimes(1);
  expect(await portal.sql`select from reset_request`).toHaveLength(0);
});

it('PR-09 PR-11 PR-24 what is not one address is 400, counts nothing and sends nothing', async () => {
  const bodies = [
    ...['username[]=alice@acme.test&username[]=evil@x.test', 'username=alice@acme.test&username=evil@x.test'],
    ...['username=alice@acme.test&user%6eame=evil@x.test', '', 'username=', 'email=alice@acme.test', 'username=alice'],
    ...['username=alice@acme.test%2Cevil@x.test', 'username=%22evil@x.test%22@acme.test', 'username=@', 'username=a@'],
    ...[
      'username=alice@acme.test%0d%0aBcc:evil@x.test',
      'username=alice@acme.test%0aBcc:evil',
      'username=alice@acme.test%00',
    ],
    ...[
      'username=alice%20@acme.test',
      'username=%20alice@acme.test',
      'username=alice@acme.test+',
      'username=%ED%A0%80@x',
    ],
    ...['username=alice%E2%80%A8@acme.test', 'username=alice@acme.test%09', `username=${'x'.repeat(311)}@acme.test`],
  ];
  for (const body of bodies) {
    const answer = await portal.send({ method: 'POST', url: '/portal/password/forgotten', body, ...script });
    expect([answer.statusCode, body.slice(0, 60)]).toEqual([400, body.slice(0, 60)]);
  }
  const json = { 'content-type': 'application/json' };
  const list = JSON.stringify({ username: ['alice@acme.test', 'evil@x.test'] });
  expect(
    (await portal.send({ method: 'POST', url: '/portal/password/forgotten', body: list, headers: json })).statusCode,
  ).toBe(415);
  for (const table of ['reset_request', 'throttle', 'mail', 'audit_event'])
    expect(await portal.sql`select from ${portal.sql(table)}`, table).toHaveLength(0);
});

it('PR-24 any text that has the form of an address is taken, up to 320 characters', async () => {
  const long = (length: number) => `${'x'.repeat(length - 10)}@acme.test`;
  const addresses = [
    ...[254, 255, 320].map(long),
    'x@y',
    'x@localhost',
    '.@.',
    'ü@bücher.test',
    `${'🗝'.repeat(310)}@acme.test`,
  ];
  const hostile = [
    "'or'1'='1@x",
    '$1@x',
    '<script>@x',
    '../..@x',
    '{{7*7}}@x',
    'x@y\u0001',
    '%00@x',
    '\u202ex@y',
    '__proto__@x',
  ];
  for (const address of [...addresses, ...hostile])
    expect((await askForReset(portal, address)).statusCode, address.slice(0, 20)).toBe(303);
  await portal.workOff();
  expect(portal.mails).toHaveLength(0);
  expect(await portal.sql`select distinct reason, username from audit_event`).toEqual([
    { reason: 'unknown-user', username: null },
  ]);
});

it('PR-08 a whole URL as target is 400, whosever host it names', async () => {
  const { exchange, host } = await listeningPortal(portal);
  const body = 'username=alice@acme.test';
  const head = `Host: ${host}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n`;
  for (const target of ['http://evil.example', `http://${host}`, 'https://evil.example:8080']) {
    const { statuses } = await exchange(`POST ${target}/portal/password/forgotten HTTP/1.1\r\n${head}${body}`);
    expect(statuses, target).toEqual([400]);
  }
  expect((await exchange(`POST /portal/password/forgotten HTTP/1.1\r\n${head}${body}`, 300)).statuses).toEqual([204]);
  expect(await portal.sql`select from reset_request`).toHaveLength(1);
});
