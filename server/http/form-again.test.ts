import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '#server/limits.ts';
import { addAttackFixtures } from '#test/support/accounts-for-test.ts';
import { testAddress, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
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
    everyStatementFails();
    const sent = await post(call, fields);
    expect([sent.answer.statusCode, sent.wait]).toEqual([503, 5]);
    expectKept(sent, keeps);
  });

  it.each(['performlogin', 'logout'])('a script that posts to %s is told by a problem document', async (call) => {
    everyStatementFails();
    const form = { username: 'alice', password: testPassword };
    const headers = { accept: 'application/json' };
    const answer = await portal.send({ method: 'POST', url: `/portal/${call}`, form, cookies: half, headers });
    expect(answer.json()).toEqual({ type: 'about:blank', title: 'Temporarily not available', status: 503 });
  });

  it('what was opened and failed can be opened again at the same address', async () => {
    everyStatementFails();
    const { statusCode, body } = await portal.send({ url: '/portal/portal.html?x=1', cookies: half });
    expect(statusCode).toBe(503);
    expect(body).toMatch(/<a [^>]*href=""[^>]*>Try again/);
  });
});

it.each(throttled)('the form of %s is given again to an address that has to wait', async (call, fields, keeps) => {
  const until = new Date(portal.deps.now().getTime() + limits.throttle.address.longestWait);
  for (const kind of ['address', 'sso-address', 'reset-address'])
    await portal.sql`
      insert into throttle (key, failures, changed_at, blocked_until, admitted)
      values (${`${kind}:${testAddress}`}, 99999, ${portal.deps.now()}, ${until}, true)`;
  const sent = await post(call, fields);
  expect([sent.answer.statusCode, sent.wait > 0]).toEqual([429, true]);
  expectKept(sent, keeps);
});

it.each([
  ['/performlogin', '/login'],
  ['/authenticate/checkSsoLogin', '/login'],
  ['/authenticate/performSsoLogin', '/singleSignOn'],
  ['/password/forgotten', '/forgotten'],
  ['/password/change', '/forgottenChange'],
])('a person who opens %s, where its form may have been shown again, gets the form', async (call, screen) => {
  const url = `/portal${call}`;
  const opened = await portal.send({ url: `${url}?username=a&password=b&hash=c&redirectURL=%2Fx&lang=de` });
  expect([opened.statusCode, opened.headers.location]).toEqual([303, `/portal${screen}?lang=de`]);
  const asked = await portal.send({ url, headers: { accept: 'application/json' } });
  expect([asked.statusCode, asked.headers.allow]).toEqual([405, 'POST']);
});

function everyStatementFails(): void {
  const fail = () => {
    throw Object.assign(new Error('away'), { code: 'ECONNREFUSED' });
  };
  portal.deps.sql = Object.assign(fail, sql) as unknown as Database;
}
