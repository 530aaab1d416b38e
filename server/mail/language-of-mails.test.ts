import { beforeEach, expect, it } from 'vitest';
import { startForgedProvider } from '#test/providers/forged-openid-provider.ts';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile, sharedByFile } from '#test/support/portal-of-file.ts';
import { addOidcConnection, browserForTest, departFor, pathOf } from '#test/support/sso-for-test.ts';
import { startTwoFactorAfresh } from '#test/support/two-factor-for-test.ts';

// Every email of a sign-in is in the user's own language, else in that of the page. The browser here is German.
const headers = { 'accept-language': 'de-AT,de;q=0.9' };

const portal = portalOfFile();
const provider = sharedByFile(() => startForgedProvider(portal.deps));
beforeEach(async () => {
  await startTwoFactorAfresh(portal);
  await portal.sql`update customer set new_device_mail = true`;
});

/** Kind and language of what was queued since the start of the test. */
async function queued(): Promise<string[]> {
  const rows = await portal.sql<{ kind: string; language: string }[]>`
    select payload->>'kind' as kind, payload->>'language' as language from job where payload->>'kind' <> 'signInCode'`;
  return rows.map(({ kind, language }) => `${kind} ${language}`);
}

const signIn = (query = '') =>
  portal.send({
    method: 'POST',
    url: `/portal/performlogin${query}`,
    form: { username: 'pat', password: testPassword },
    headers,
  });

it('after a password it is the language of the page, or the own one', async () => {
  await signIn();
  await signIn('?lang=pl');
  await portal.sql`update portal_user set language = 'it'`;
  await signIn();
  expect(await queued()).toEqual(['newDevice de', 'newDevice pl', 'newDevice it']);
});

it('after single sign-on', async () => {
  await addCustomer(portal, 'acme');
  await portal.sql`update customer set new_device_mail = true`;
  await addUser(portal, { username: 'carol' });
  await addOidcConnection(portal, provider);
  provider.bend({ claims: (honest: object) => ({ ...honest, email: 'carol@acme.test' }) });
  const browser = browserForTest(portal);
  const callback = provider.visit(await departFor(browser, 'carol@acme.test'));
  const answer = await browser.get(pathOf(callback), { headers });
  expect(answer.headers.location).toBe('/portal/portal.html');
  expect(await queued()).toEqual(['newDevice de']);
});
