import type { Response } from 'light-my-request';
import { beforeAll, expect, it, vi } from 'vitest';
import { type ListeningPortal, listeningPortal } from '#testing/listening-portal.ts';
import { poolOfFile } from '#testing/pool-of-file.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { askForReset, startAfresh } from '#testing/reset-for-test.ts';

const portal = portalOfFile({ each: startAfresh });
/** For queries by the test itself. */
const aside = poolOfFile(portal);
let listening: ListeningPortal;
beforeAll(async () => {
  listening = await listeningPortal(portal);
});

const script = { headers: { accept: '*/*' } };

/** Everything a visitor can see of an answer, except its time. */
function seen({ statusCode, rawPayload, headers }: Response) {
  return { statusCode, body: rawPayload.toString('hex'), headers: { ...headers, date: '' } };
}

/** The bytes of a form as a program sends it. */
function posted(host: string, target: string, username: string): string {
  const body = `username=${username}`;
  const type = 'application/x-www-form-urlencoded';
  return `POST ${target} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

/** One of each kind: known by email or as a second account, unknown, and users who get no link. */
const names = ['alice', 'carol', 'nobody', 'dave', 'erin', 'frank', 'sso-only'].map((name) => `${name}@acme.test`);

it('EN-05 every name gets a byte-identical answer', async () => {
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

it('EN-05 nothing is looked up or queued before the answer: it arrives while every table that tells of names is locked', async () => {
  await aside.begin(async (sql) => {
    await sql`
      lock table login_name, membership, customer, reset_link, audit_event, session, device
      in access exclusive mode`;
    for (const name of names) expect((await askForReset(portal, name)).statusCode).toBe(303);
  });
  expect(await portal.sql`select from audit_event`).toHaveLength(0);
  const waiting = await portal.sql`select queue, payload, made_at from job order by payload->>'fold'`;
  const payload = { language: 'en', address: '198.51.100.7', requestId: expect.any(String), destination: null };
  const asked = { queue: 'reset-request', made_at: portal.deps.now() };
  expect(waiting).toEqual([...names].sort().map((fold) => ({ ...asked, payload: { fold, ...payload } })));
});

it('EN-05 work starts after the answer was sent, and only if a request was stored', async () => {
  const { exchange, host } = listening;
  const { wake } = portal.deps;
  // An answer not sent by then is never sent.
  const resetRequests = vi.fn(() => portal.app.server.closeAllConnections());
  portal.deps.wake = { ...wake, resetRequests };
  const post = async (username: string) =>
    (await exchange(posted(host, '/portal/password/forgotten', username), 300)).statuses;
  expect(await post('nobody@acme.test')).toEqual([204]);
  expect(resetRequests).toHaveBeenCalledTimes(1);
  for (const bad of ['nobody', 'a%20b@acme.test']) expect(await post(bad)).toEqual([400]);
  await portal.sql`update throttle set blocked_until = ${new Date(portal.deps.now().getTime() + 1)}`;
  expect(await post('nobody@acme.test')).toEqual([429]);
  portal.deps.wake = wake;
  expect(resetRequests).toHaveBeenCalledTimes(1);
  expect(await portal.sql`select from job`).toHaveLength(1);
});

it('PR-08 a whole URL as target is 400, whichever host it names', async () => {
  const { exchange, host } = listening;
  for (const target of ['http://evil.example', `http://${host}`, 'https://evil.example:8080']) {
    const { statuses } = await exchange(posted(host, `${target}/portal/password/forgotten`, 'alice@acme.test'));
    expect(statuses, target).toEqual([400]);
  }
  const { statuses } = await exchange(posted(host, '/portal/password/forgotten', 'alice@acme.test'), 300);
  expect(statuses).toEqual([204]);
  expect(await portal.sql`select from job`).toHaveLength(1);
});
