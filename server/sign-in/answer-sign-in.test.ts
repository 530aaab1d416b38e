import { beforeEach, describe, expect, it } from 'vitest';
import { addAttackFixtures, addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { browserForTest } from '#test/support/sso-for-test.ts';

const portal = portalOfFile({
  once: async (portal) => {
    await addAttackFixtures(portal);
    await addCustomer(portal, 'app', { twoFactor: 'app' });
    await addCustomer(portal, 'mail', { twoFactor: 'email' });
    await addUser(portal, { username: 'gwen', customers: ['app'] });
    await addUser(portal, { username: 'hugo', customers: ['mail'] });
  },
});
beforeEach(async () => {
  await portal.sql`delete from throttle`;
});

const start = '/portal/portal.html';
const form = (username: string, redirectURL: string) => ({ username, password: testPassword, redirectURL });
const headers = { 'sec-fetch-mode': 'navigate' };

/** Follows redirects as a browser that keeps no cookie; gives the last page, and how many redirects led there. */
async function withoutCookies(username: string, redirectURL: string) {
  const url = '/portal/performlogin';
  let answer = await portal.send({ method: 'POST', url, form: form(username, redirectURL), headers });
  let steps = 0;
  for (; answer.headers.location && steps < 5; steps += 1)
    answer = await portal.send({ url: String(answer.headers.location) });
  return { ...answer, steps };
}

describe('without JavaScript, a browser that keeps no cookie', () => {
  it.each(['alice', 'gwen', 'hugo'])('is told so after the sign-in of %s, beside the form', async (username) => {
    const { statusCode, body, steps } = await withoutCookies(username, '/portal/reports/7');
    expect([statusCode, steps]).toEqual([200, 1]);
    expect(body).toContain('Cookies are blocked');
    expect(body).toMatch(/<input type="hidden" name="redirectURL" value="\/portal\/reports\/7"/);
  });
});

describe('a browser that keeps them', () => {
  it.each([
    ['alice', '/portal/reports/7?a=1#/b', ['/portal/reports/7?a=1#/b']],
    ['alice', '/portal', ['/portal/portal.html']],
    ['gwen', '/portal/reports/7', [`/portal/twoFactorRegistration?redirectURL=%2Fportal%2Freports%2F7`]],
    ['hugo', '/portal/reports/7', [expect.stringMatching(/^\/portal\/twoFactor.*reports%2F7&codeSentViaEmail=true$/)]],
  ])(
    'goes on at once as %s to %s, by one more redirect and only the first time',
    async (username, redirectURL, [end]) => {
      const browser = browserForTest(portal);
      const first = await browser.post('/portal/performlogin', form(username, redirectURL), { headers });
      expect(first.headers.location).toContain('notice=cookiesNeeded');
      const next = await browser.get(String(first.headers.location));
      expect([next.statusCode, next.headers.location]).toEqual([302, end]);
      const again = await browser.post('/portal/performlogin', form(username, redirectURL), { headers });
      expect(String(again.headers.location)).not.toContain('cookiesNeeded');
    },
  );
});

it('a page requested before sign-in is reached afterwards, despite a failed attempt', async () => {
  const asked = '/portal/portal.html?x=1&y=a%20b';
  const toForm = await portal.send({ url: asked });
  expect(toForm.statusCode).toBe(302);
  expect(toForm.headers.location).toBe(`/portal/?${new URLSearchParams({ destination: asked })}`);
  const form = { username: 'alice', password: 'a slip', redirectURL: asked };
  const failed = await portal.signIn('', '', { form });
  expect(failed.headers.location).toBe(`/portal/loginfail/default?${new URLSearchParams({ destination: asked })}`);
  const page = await portal.send({ url: String(failed.headers.location) });
  expect(page.body).toContain(
    `destination=${encodeURIComponent(asked)}`.replaceAll('%20', '+').replaceAll('&', '&amp;'),
  );
  const signedIn = await portal.signIn('', '', { form: { ...form, password: testPassword } });
  expect(signedIn.headers.location).toBe(asked);
  expect((await portal.send({ url: '/portal/portal.html' })).headers.location).toBe('/portal/');
});

it('a signed-in visitor is redirected from every address of the form', async () => {
  const cookies = cookiesOf(await portal.signIn('alice', testPassword));
  for (const url of ['/portal', '/portal/', '/portal/login', '/portal/login/', '/portal/login?lang=xx'])
    expect((await portal.send({ url, cookies })).headers.location, url).toBe(start);
  const chosen = await portal.send({ url: '/portal/login?lang=de', cookies });
  expect(chosen.headers.location).toBe(`${start}?lang=de`);
  expect((await portal.send({ url: '/portal/login' })).statusCode).toBe(200);
});
