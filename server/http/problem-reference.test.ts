import { afterEach, beforeAll, expect, it, vi } from 'vitest';
import { requestIdStart } from '#server/audit/reference.ts';
import { limits } from '#server/limits.ts';
import { addAttackFixtures } from '#test/support/accounts-for-test.ts';
import { cookiesOf, type TestRequest } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { listAuditEventsByRequest } from '../audit/audit-event.ts';
import type { Database } from '../database/database.ts';

/** A short queue fills quickly. */
vi.mock(import('#server/limits.ts'), async (original) => {
  const module = await original();
  return { ...module, limits: { ...module.limits, waitingHashes: 10 as never } };
});

let sql: Database;
const portal = portalOfFile();
beforeAll(async () => {
  sql = portal.deps.sql;
  await addAttackFixtures(portal);
});
afterEach(async () => {
  portal.deps.sql = sql;
  await portal.sql`delete from throttle`;
});

const login = { method: 'POST', url: '/portal/performlogin' } as const;
const form = { username: 'alice', password: 'wrong' };

it.each<[number, TestRequest, bring?: () => unknown]>([
  [400, { ...login, url: '/portal/password/change', body: 'hash=a&hash=b' }],
  [403, { ...login, form, headers: { origin: 'https://evil.example' } }],
  [415, { ...login, body: '{}', headers: { 'content-type': 'application/json' } }],
  [431, { url: '/portal/login', headers: { x: Array(200).fill('y') } }],
  [500, { ...login, form }, () => everyStatementFails(new TypeError('a bug'))],
  [503, { ...login, form }, () => everyStatementFails(Object.assign(new Error('away'), { code: 'ECONNREFUSED' }))],
])('a page of %i shows the reference of this very failure: it is in the log', async (status, request, bring) => {
  const earlier = cookiesOf(await portal.signIn('alice', `wrong ${Math.random()}`));
  await bring?.();
  const shown = new Set<string>();
  for (const cookies of [{}, earlier]) {
    const before = portal.logs().length;
    const answer = await portal.send({ ...request, cookies });
    expect(answer.statusCode).toBe(status);
    const [reference = ''] = /\b[0-9A-F]{4}-[0-9A-F]{4}(?=<\/code>)/.exec(answer.body) ?? [];
    const lines = portal.logs().slice(before).trim().split('\n');
    const ids = new Set(lines.map((line) => (JSON.parse(line) as { reqId: string }).reqId));
    expect([...ids].map((id) => id.slice(0, 8))).toEqual([reference.replace('-', '').toLowerCase()]);
    shown.add(reference);
  }
  expect(shown.size).toBe(2);
});

it.each<[string, TestRequest, why: string]>([
  [
    'a field that is missing',
    { ...login, url: '/portal/password/change', form: { password: 'a' } },
    "repeat must have required property 'repeat'",
  ],
  [
    'a field sent twice, whose name is not quoted',
    { ...login, url: '/portal/password/change', body: 'hunter2=a&hunter2=b' },
    'A field was sent twice.',
  ],
  ['another method', { method: 'DELETE', url: '/portal/login' }, 'The method is not allowed'],
])('the line in the log that a reference leads to says why: %s', async (_of, request, why) => {
  const before = portal.logs().length;
  const { body, statusCode } = await portal.send(request);
  const [reference = ''] = /\b[0-9A-F]{4}-[0-9A-F]{4}(?=<\/code>)/.exec(body) ?? [];
  const logged = portal.logs().slice(before);
  const [line, ...others] = logged
    .trim()
    .split('\n')
    .map((text) => JSON.parse(text));
  expect(others).toEqual([]);
  expect(line).toMatchObject({ status: statusCode, why });
  expect(line.reqId.startsWith(requestIdStart(reference))).toBe(true);
  expect(logged).not.toContain('hunter2');
});

/** The reference on a page, and the events that `vestibule explain` finds by it. */
async function explained(body: string) {
  const [reference = ''] = /\b[0-9A-F]{4}-[0-9A-F]{4}(?=<\/code>)/.exec(body) ?? [];
  const events = await listAuditEventsByRequest(portal.sql, requestIdStart(reference) ?? '');
  return { reference, events: events.map(({ event, reason }) => [event, reason]) };
}

const throttled: [what: string, TestRequest, event: [string, string]][] = [
  ['a sign-in', { ...login, form }, ['sign-in-refused', 'throttled-address']],
  [
    'a new password',
    { ...login, url: '/portal/password/change', form: { password: 'a', repeat: 'a', hash: 'x'.repeat(43) } },
    ['password-change-refused', 'throttled'],
  ],
];

it.each(throttled)(
  'of %s the page of 429 shows the reference of an event, of which a /64 has one a minute',
  async (_of, request, event) => {
    portal.wait(60_000);
    await manyFailures('2001:db8:1:2::/64');
    const shown = [];
    for (const from of ['2001:db8:1:2::1', '2001:db8:1:2:ffff::2']) {
      const answer = await portal.send({ ...request, from });
      expect(answer.statusCode).toBe(429);
      shown.push(await explained(answer.body));
    }
    expect(shown.map(({ events }) => events)).toEqual([[event], [event]]);
    expect(shown[1]?.reference).toBe(shown[0]?.reference);
    portal.wait(60_000);
    const later = await explained((await portal.send({ ...request, from: '2001:db8:1:2::1' })).body);
    expect(later.events).toEqual([event]);
    expect(later.reference).not.toBe(shown[0]?.reference);
  },
);

async function manyFailures(origin: string): Promise<void> {
  const waitUntil = new Date(portal.deps.now().getTime() + limits.throttle.address.longestWait);
  await portal.sql`delete from throttle`;
  for (const kind of ['address', 'sso-address', 'reset-address'])
    await portal.sql`
      insert into throttle (key, failures, changed_at, blocked_until, admitted)
      values (${`${kind}:${origin}`}, 99999, ${portal.deps.now()}, ${waitUntil}, true)`;
}

function everyStatementFails(error: Error): void {
  const fail = () => {
    throw error;
  };
  portal.deps.sql = Object.assign(fail, sql) as unknown as Database;
}
