import { beforeEach, expect, it } from 'vitest';
import { startForgedProvider } from '#test/providers/forged-openid-provider.ts';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile, sharedByFile } from '#test/support/portal-of-file.ts';
import { addOidcConnection, browserForTest, departFor, pathOf } from '#test/support/sso-for-test.ts';
import {
  codeByMail,
  codeNow,
  halfSession,
  registrationUrl,
  startTwoFactorAfresh,
  verify,
} from '#test/support/two-factor-for-test.ts';

// Every email of a sign-in is in the user's own language, else in that of the page. Its browser here is German.
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
    select payload->>'kind' as kind, payload->>'language' as language from job where payload->>'kind' <> 'signInCode' order by kind`;
  return rows.map(({ kind, language }) => `${kind} ${language}`);
}

/** Registers an app with these cookies, as the script does. */
async function register(cookies: Record<string, string>): Promise<void> {
  const { totpSecret } = (await portal.send({ url: registrationUrl, cookies })).json<{ totpSecret: string }>();
  expect((await verify(portal, codeNow(portal, totpSecret), cookies, { headers })).body).toBe('true');
}

const ways = {
  'a password': () => portal.signIn('pat', testPassword, { headers }),
  'a code': async () => {
    const half = await halfSession(portal, 'bob', { headers });
    await verify(portal, await codeByMail(portal, 'bob'), half, { headers });
  },
  'registering an app that is required': async () => register(await halfSession(portal, 'alice', { headers })),
  'setting up an app voluntarily': async () =>
    register(cookiesOf(await portal.signIn('pat', testPassword, { headers }))),
};

it.each(Object.entries(ways))('after %s', async (way, signIn) => {
  await signIn();
  expect(await queued()).toEqual(way.includes('app') ? ['newDevice de', 'secondFactorAdded de'] : ['newDevice de']);
});

it('the own one comes first', async () => {
  await portal.sql`update portal_user set language = 'it'`;
  await ways['setting up an app voluntarily']();
  expect(await queued()).toEqual(['newDevice it', 'secondFactorAdded it']);
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

it('the page’s language, where it is not the browser’s', async () => {
  const answer = await portal.send({
    method: 'POST',
    url: '/portal/performlogin?lang=pl',
    form: { username: 'pat', password: testPassword },
    headers,
  });
  expect(answer.statusCode).toBe(303);
  expect(await queued()).toEqual(['newDevice pl']);
});
