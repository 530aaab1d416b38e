import { beforeEach, expect, it } from 'vitest';
import { longestPasswordInput, longestUsername } from '#contract/payloads.ts';
import { addAttackFixtures } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';

const portal = portalOfFile({ once: addAttackFixtures });
beforeEach(async () => {
  await portal.sql`delete from throttle`;
  await portal.sql`delete from audit_event`;
});

const url = '/portal/performlogin';
const post = (form: Record<string, string>, more = {}) => portal.send({ method: 'POST', url, form, ...more });
const long = 'x'.repeat(longestUsername + 80);
const tooLong = /role="alert"[\s\S]*longer than allowed/;
const missing = /role="alert"[\s\S]*Enter both/;

it.each([
  ['a name that is too long', { username: long, password: testPassword }, long.slice(0, longestUsername), tooLong],
  [
    'a password that is too long',
    { username: 'alice', password: 'p'.repeat(longestPasswordInput + 1) },
    'alice',
    tooLong,
  ],
  ['no password', { username: 'alice', password: '' }, 'alice', missing],
  ['no name', { username: '', password: testPassword }, '', missing],
  ['one field alone', { username: '<i>' }, '&lt;i&gt;', missing],
])(
  'without JavaScript %s brings back the form with what was typed and its error',
  async (_what, form, value, words) => {
    const answer = await post(form as Record<string, string>);
    expect(answer.statusCode).toBe(400);
    expect(answer.body).toMatch(/<form[^>]* action="\/portal\/performlogin"/);
    expect(answer.body).toContain(`value="${value}"`);
    expect(answer.body).toMatch(words);
    expect(answer.body).not.toContain(testPassword);
    expect(answer.body).not.toContain('ppp');
    expect(answer.cookies).toEqual([]);
    expect(await portal.sql`select from throttle`).toHaveLength(0);
    expect(await portal.sql`select from audit_event`).toHaveLength(0);
  },
);

it('the form that comes back keeps the language and an acceptable destination', async () => {
  const at = async (redirectURL: string) =>
    (await portal.send({ method: 'POST', url: `${url}?lang=de`, form: { username: long, password: 'x', redirectURL } }))
      .body;
  expect(await at('/portal/portal.html#/reports')).toContain('<html lang="de"');
  expect(await at('/hub/app?q=1')).toMatch(/name="redirectURL"[^>]* value="\/hub\/app\?q=1"/);
  expect(await at('https://evil.test/')).not.toContain('evil.test');
});

it('the form that comes back shows nothing of an earlier refused sign-in', async () => {
  const refused = await portal.signIn('bob', 'not the password');
  const cookies = cookiesOf(refused);
  const failed = await portal.send({ url: String(refused.headers.location), cookies });
  const [reference = ''] = /\b[0-9A-Z]{4}-[0-9A-Z]{4}\b/.exec(failed.body) ?? [];
  expect(reference).not.toBe('');
  const answer = await post({ username: long, password: testPassword }, { cookies });
  expect(answer.body).toMatch(tooLong);
  expect(answer.body).not.toContain(reference);
  expect(answer.body).not.toContain('value="bob"');
});

it('a script still gets the name of the field', async () => {
  const answer = await post({ username: long, password: testPassword }, { headers: { accept: 'application/json' } });
  expect([answer.statusCode, answer.json<{ field: string }>().field]).toEqual([400, 'username']);
});
