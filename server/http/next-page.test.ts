import { beforeEach, expect, it } from 'vitest';
import { addAttackFixtures } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { linkFor } from '#test/support/reset-for-test.ts';

const portal = portalOfFile({ once: addAttackFixtures });
beforeEach(async () => {
  await portal.sql`delete from throttle`;
});

const pattern = /\b[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}\b/;

/** What the page after a refusal shows, and what the browser keeps of it. */
async function refused() {
  const answer = await portal.signIn('alice', `wrong ${Math.random()}`);
  const cookies = cookiesOf(answer);
  const page = await portal.send({ url: String(answer.headers.location), cookies });
  const [reference = ''] = pattern.exec(page.body) ?? [];
  expect(reference).not.toBe('');
  return { cookies, reference };
}

it('the page of a refusal shows its reference, in any language and after a reload', async () => {
  const { cookies, reference } = await refused();
  for (const url of ['/portal/loginfail/default', '/portal/loginfail/default/', '/portal/loginfail/default?lang=de'])
    expect((await portal.send({ url, cookies })).body, url).toContain(reference);
});

it.each([
  '/portal/loginfail/oidc',
  '/portal/loginfail/ip?ipaddress=192.0.2.1',
  '/portal/forgottenChangeFailedInfo',
  '/portal/login',
  '/portal/nowhere',
])('%s shows nothing of an earlier refused sign-in', async (url) => {
  const { cookies, reference } = await refused();
  expect((await portal.send({ url, cookies })).body).not.toContain(reference);
});

it('the reference of a change belongs to the page of its reason', async () => {
  const hash = await linkFor(portal, 'bob');
  const form = { password: testPassword, repeat: 'something else', hash };
  const answer = await portal.send({ method: 'POST', url: '/portal/password/change', form });
  expect(answer.headers.location).toBe('/portal/forgottenChangeFailedInfo?reason=5');
  const cookies = cookiesOf(answer);
  const at = async (query: string) =>
    (await portal.send({ url: `/portal/forgottenChangeFailedInfo${query}`, cookies })).body;
  const [reference = ''] = pattern.exec(await at('?reason=5')) ?? [];
  expect(reference).not.toBe('');
  expect(await at('?5')).toContain(reference);
  expect(await at('?reason=3')).not.toContain(reference);
  expect(await at('')).not.toContain(reference);
});
