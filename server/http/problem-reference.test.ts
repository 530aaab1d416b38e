import { afterEach, beforeAll, expect, it } from 'vitest';
import { languages } from '#contract/languages.ts';
import { requestIdStart } from '#server/audit/reference.ts';
import { limits } from '#server/limits.ts';
import { listAuditEventsByRequest } from '#server/storage/audit-event.ts';
import type { Database } from '#server/storage/database.ts';
import { addAttackFixtures } from '#testing/accounts-for-test.ts';
import { cookiesOf, type TestRequest, testAddress } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';

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
  [405, { method: 'DELETE', url: '/portal/login' }],
  [413, { ...login, body: 'x'.repeat(20_000) }],
  [415, { ...login, body: '{}', headers: { 'content-type': 'application/json' } }],
  [421, { url: '/portal/login', headers: { host: 'evil.example' } }],
  [429, { ...login, form }, manyFailures],
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

it('the page says in every language what it is', async () => {
  const labels = await Promise.all(
    languages.map(async (language) => {
      const { body } = await portal.send({ method: 'DELETE', url: `/portal/login?lang=${language}` });
      return /<span>([^<]+)<\/span> <code>[0-9A-F]{4}-/.exec(body)?.[1];
    }),
  );
  expect(labels).toEqual(['Reference', 'Referenz', 'Referencia', 'Numer sprawy', 'Referentie', 'Riferimento']);
});

it('an event of the request is found by it', async () => {
  const { body } = await portal.send({
    ...login,
    form,
    headers: { origin: 'https://evil.example' },
    from: '192.0.2.9',
  });
  const [reference = ''] = /\b[0-9A-F]{4}-[0-9A-F]{4}(?=<\/code>)/.exec(body) ?? [];
  const events = await listAuditEventsByRequest(portal.sql, requestIdStart(reference) ?? '');
  expect(events.map(({ event, address }) => [event, address])).toEqual([['request-refused', '192.0.2.9']]);
});

async function manyFailures(): Promise<void> {
  const waitUntil = new Date(portal.deps.now().getTime() + limits.throttle.address.longestWait);
  await portal.sql`delete from throttle`;
  await portal.sql`
    insert into throttle (key, failures, changed_at, blocked_until, admitted)
    values (${`address:${testAddress}`}, 99999, ${portal.deps.now()}, ${waitUntil}, true)`;
}

function everyStatementFails(error: Error): void {
  const fail = () => {
    throw error;
  };
  portal.deps.sql = Object.assign(fail, sql) as unknown as Database;
}
