import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { requestIdStart } from '#server/audit/reference.ts';
import { limits } from '#server/limits.ts';
import { addAttackFixtures } from '#test/support/accounts-for-test.ts';
import { cookiesOf, type TestRequest, testAddress, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { listAuditEventsByRequest } from '../audit/audit-event.ts';
import type { Database } from '../database/database.ts';

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

const redirectURL = '/portal/reports/7?from=mail';
const carried = encodeURIComponent(redirectURL);
const hash = 'r'.repeat(43);
/** Its session cannot be looked up while the database is down. */
const half = { 'vestibule-session': 'h'.repeat(43) };

type Form = [call: string, fields: Record<string, string>, keeps: string[]];

const kept = (name: string, value: string) => `name="${name}" value="${value}"`;
const throttled: Form[] = [
  [
    'performlogin',
    { username: 'alice', password: testPassword, redirectURL },
    ['/portal/performlogin"', 'value="alice"', kept('redirectURL', redirectURL)],
  ],
  [
    'authenticate/checkSsoLogin',
    { redirectURLSSO: redirectURL },
    ['/portal/performlogin"', kept('redirectURL', redirectURL)],
  ],
  [
    'authenticate/performSsoLogin',
    { username: 'alice@acme.test', redirectURL },
    ['/portal/authenticate/performSsoLogin"', 'value="alice@acme.test"', kept('redirectURL', redirectURL)],
  ],
  [
    `password/forgotten?destination=${carried}`,
    { username: 'alice@acme.test' },
    [`/portal/password/forgotten?destination=${carried}`, 'value="alice@acme.test"'],
  ],
];
const forms: Form[] = [
  ...throttled,
  [
    'password/change',
    { password: testPassword, repeat: testPassword, hash },
    ['/portal/password/change"', kept('hash', hash)],
  ],
  [
    'two-factor-authentication/verify',
    { code: '123456', redirectURL, codeSentViaEmail: 'true' },
    ['/portal/two-factor-authentication/verify"', kept('redirectURL', redirectURL)],
  ],
  [
    'two-factor-authentication/send',
    { redirectURL, codeSentViaEmail: 'true' },
    ['/portal/two-factor-authentication/verify"', kept('redirectURL', redirectURL)],
  ],
  [
    `logout?destination=${carried}&forget=connection`,
    {},
    [`<form action="/portal/logout?destination=${carried}&forget=connection"`, 'Try again</button>'],
  ],
];

/** Posts a form as a person and returns what comes back, with the page before its scripts. */
async function post(call: string, form: Record<string, string>) {
  const answer = await portal.send({ method: 'POST', url: `/portal/${call}`, form, cookies: half });
  const page = answer.body.slice(0, answer.body.indexOf('<script')).replaceAll('&amp;', '&');
  return { answer, page, wait: Number(answer.headers['retry-after']) };
}

function expectKept({ answer, page }: Awaited<ReturnType<typeof post>>, keeps: string[]): void {
  for (const text of keeps) expect(page).toContain(text);
  expect(page).toMatch(/\b[0-9A-F]{4}-[0-9A-F]{4}(?=<\/code>)/);
  for (const secret of [testPassword, '123456']) expect(answer.body).not.toContain(secret);
  expect(answer.cookies.filter(({ name }) => name !== 'vestibule-reset')).toEqual([]);
}

describe('while the database is down', () => {
  it.each(forms)('the form of %s is given again, with what it was filled with', async (call, fields, keeps) => {
    everyStatementFails(away());
    const sent = await post(call, fields);
    expect([sent.answer.statusCode, sent.wait]).toEqual([503, 5]);
    expectKept(sent, keeps);
  });
});

it.each(throttled)('the form of %s is given again to an address that has to wait', async (call, fields, keeps) => {
  for (const kind of ['address', 'sso-address', 'reset-address']) await block(`${kind}:${testAddress}`);
  const sent = await post(call, fields);
  expect([sent.answer.statusCode, sent.wait > 0]).toEqual([429, true]);
  expectKept(sent, keeps);
});

async function block(key: string): Promise<void> {
  const until = new Date(portal.deps.now().getTime() + limits.throttle.address.longestWait);
  await portal.sql`
    insert into throttle (key, failures, changed_at, blocked_until, admitted)
    values (${key}, 99999, ${portal.deps.now()}, ${until}, true)`;
}

const away = () => Object.assign(new Error('away'), { code: 'ECONNREFUSED' });

function everyStatementFails(error: Error): void {
  const fail = () => {
    throw error;
  };
  portal.deps.sql = Object.assign(fail, sql) as unknown as Database;
}

const login = { method: 'POST', url: '/portal/performlogin' } as const;
const form = { username: 'alice', password: 'wrong' };

it.each<[number, TestRequest, bring?: () => unknown]>([
  [400, { ...login, url: '/portal/password/change', body: 'hash=a&hash=b' }],
  [403, { ...login, form, headers: { origin: 'https://evil.example' } }],
  [415, { ...login, body: '{}', headers: { 'content-type': 'application/json' } }],
  [431, { url: '/portal/login', headers: { x: Array(200).fill('y') } }],
  [500, { ...login, form }, () => everyStatementFails(new TypeError('a bug'))],
  [503, { ...login, form }, () => everyStatementFails(away())],
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

it('a page of 429 shows the reference of an event, of which a /64 has one a minute', async () => {
  await block('address:2001:db8:1:2::/64');
  const shown: string[] = [];
  for (const from of ['2001:db8:1:2::1', '2001:db8:1:2:ffff::2']) {
    const { statusCode, body } = await portal.send({ ...login, form, from });
    expect(statusCode).toBe(429);
    shown.push(/\b[0-9A-F]{4}-[0-9A-F]{4}(?=<\/code>)/.exec(body)?.[0] ?? '');
  }
  expect(shown[1]).toBe(shown[0]);
  const [event, ...more] = await listAuditEventsByRequest(portal.sql, requestIdStart(shown[0] ?? '') ?? '');
  expect([event?.event, event?.reason, more]).toEqual(['sign-in-refused', 'throttled-address', []]);
});
