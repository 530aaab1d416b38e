import { expect, it } from 'vitest';
import { addAttackFixtures } from '#testing/accounts-for-test.ts';
import { cookiesOf } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { startAfresh } from '#testing/reset-for-test.ts';

const portal = portalOfFile({ once: addAttackFixtures, each: startAfresh });

const url = '/portal/password/forgotten';
const postForm = (body: string, cookies = {}) => portal.send({ method: 'POST', url, body, cookies });

it.each([
  ['username=alice', 'alice'],
  ['username=alice%40acme.test%2C%20bob%40acme.test', 'alice@acme.test, bob@acme.test'],
  ['username=%3Ci%3E', '&lt;i&gt;'],
  [`username=${'x'.repeat(400)}`, 'x'.repeat(320)],
  ['username=', ''],
  ['', ''],
])('%j is not an address: without JavaScript the form comes back with the entry and its error', async (body, value) => {
  const answer = await postForm(body);
  expect(answer.statusCode).toBe(400);
  expect(answer.body).toMatch(/<form[^>]* action="\/portal\/password\/forgotten"/);
  expect(answer.body).toContain(`value="${value}"`);
  expect(answer.body).toMatch(/id="email-error"[^>]*>.*Enter the full address/);
  expect(answer.body).toContain('aria-describedby="email-error"');
  expect(await portal.sql`select from job`).toHaveLength(0);
});

it('the returned form shows nothing of an earlier refused sign-in', async () => {
  const refused = await portal.signIn('bob', 'not the password');
  const cookies = cookiesOf(refused);
  const failed = await portal.send({ url: String(refused.headers.location), cookies });
  const [reference = ''] = /\b[0-9A-Z]{4}-[0-9A-Z]{4}\b/.exec(failed.body) ?? [];
  expect(reference).not.toBe('');
  const answer = await postForm('username=alice', cookies);
  expect(answer.body).not.toContain(reference);
  expect(answer.body).not.toContain('value="bob"');
});

it('the form comes back in the language of its address', async () => {
  const answer = await portal.send({ method: 'POST', url: `${url}?lang=de`, body: 'username=x' });
  expect(answer.body).toContain('<html lang="de"');
});
