import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addAttackFixtures, addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { browserForTest } from '#test/support/sso-for-test.ts';

const portal = portalOfFile();
beforeAll(async () => {
  await addAttackFixtures(portal);
  await addCustomer(portal, 'app', { twoFactor: 'app' });
  await addCustomer(portal, 'mail', { twoFactor: 'email' });
  await addUser(portal, { username: 'gwen', customers: ['app'] });
  await addUser(portal, { username: 'hugo', customers: ['mail'] });
});
beforeEach(async () => {
  await portal.sql`delete from throttle`;
});

const form = (username: string, redirectURL: string) => ({ username, password: testPassword, redirectURL });
const headers = { 'sec-fetch-mode': 'navigate' };
const blocked = 'Cookies are blocked';

/** Follows redirects as a browser that keeps no cookie; gives the last page, and how many redirects led there. */
async function withoutCookies(username: string, redirectURL = '/portal') {
  let answer = await portal.send({
    method: 'POST',
    url: '/portal/performlogin',
    form: form(username, redirectURL),
    headers,
  });
  let steps = 0;
  for (; answer.headers.location && steps < 5; steps += 1)
    answer = await portal.send({ url: String(answer.headers.location) });
  return { ...answer, steps };
}

describe('without JavaScript, a browser that keeps no cookie', () => {
  it.each(['alice', 'gwen', 'hugo'])('is told so after the sign-in of %s, beside the form', async (username) => {
    const { statusCode, body, steps } = await withoutCookies(username, '/portal/reports/7');
    expect([statusCode, steps]).toEqual([200, 1]);
    expect(body).toContain(blocked);
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

  it('is not told so by an address that says it', async () => {
    const url = '/portal/login?notice=cookiesNeeded&destination=%2Fportal%2Fx';
    const answer = await portal.send({ url, cookies: { other: 'x' } });
    expect([answer.statusCode, answer.headers.location]).toEqual([302, '/portal/login?destination=%2Fportal%2Fx']);
  });
});

it('who is no browser is led straight on, as the specification has it', async () => {
  expect((await portal.signIn('alice', testPassword)).headers.location).toBe('/portal/portal.html');
});
