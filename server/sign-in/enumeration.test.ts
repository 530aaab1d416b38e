import type { Response } from 'light-my-request';
import { beforeEach, describe, expect, it } from 'vitest';
import { longestPasswordInput, longestUsername } from '#contract/payloads.ts';
import { addAttackFixtures } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';

const portal = portalOfFile({ once: addAttackFixtures });
beforeEach(async () => {
  await portal.sql`delete from throttle`;
  await portal.sql`delete from audit_event`;
});

/** What a visitor sees of an answer, with random parts replaced by text of equal length. */
function seen(response: Response) {
  const headers = { ...response.headers, date: '' };
  const cookies = response.cookies.map(({ name, value, ...rest }) => ({ name, length: value.length, ...rest }));
  return { status: response.statusCode, body: response.body, headers: { ...headers, 'set-cookie': cookies } };
}

describe('user enumeration', () => {
  it('EN-01 EN-11 every refused sign-in looks like that of an unknown user, including cookies', async () => {
    const expected = seen(await portal.signIn('nobody', 'wrong password'));
    expect(expected).toMatchObject({ status: 303, headers: { location: '/portal/loginfail/default' } });
    for (let guess = 0; guess < 6; guess += 1)
      await portal.signIn('alice', `guess ${guess}`, { from: `192.0.2.${guess}` });
    // Names of equal length, since the typed name is returned in a cookie.
    for (const [what, username, password] of [
      ['wrong password', 'bob', 'wrong password'],
      ['inactive', 'dave', testPassword],
      ['no customer', 'erin', testPassword],
      ['locked', 'alice', testPassword],
      ['without a password', 'sso-only', testPassword],
    ] as const) {
      const answer = seen(await portal.signIn(username, password));
      const unknown = seen(await portal.signIn('x'.repeat(username.length), 'wrong password'));
      expect(answer, what).toEqual(unknown);
      expect({ ...answer.headers, 'set-cookie': null }, what).toEqual({ ...expected.headers, 'set-cookie': null });
    }
  });

  it('EN-13 an oversized password is refused before any work, for known and unknown users alike', async () => {
    const long = 'x'.repeat(5000);
    // The typed name is returned, and is the only difference.
    const bob = JSON.stringify(seen(await portal.signIn('bob', long)));
    const nobody = JSON.stringify(seen(await portal.signIn('yyy', long)));
    expect(bob).toContain('bob');
    expect(bob.replaceAll('bob', 'yyy')).toBe(nobody);
    expect(JSON.parse(bob)).toMatchObject({ status: 400 });
    expect(await portal.sql`select * from throttle`).toHaveLength(0);
  });

  it('EN-12 the registration call returns nothing to a visitor', async () => {
    for (const query of ['', '?username=alice', '?user=alice']) {
      const answer = await portal.send({ url: `/portal/two-factor-authentication/registration${query}` });
      expect(answer.statusCode).toBeGreaterThanOrEqual(400);
      expect(answer.body).not.toMatch(/alice@|"totpSecret"/);
    }
  });

  it('EN-14 IP-12 a wrong password from a refused network looks like any wrong password', async () => {
    expect((await portal.signIn('carol', 'wrong')).headers.location).toBe('/portal/loginfail/default');
    expect((await portal.signIn('carol', testPassword)).headers.location).toBe(
      '/portal/loginfail/ip?ipaddress=198.51.100.7',
    );
  });
});

describe('without JavaScript the form comes back', () => {
  const url = '/portal/performlogin';
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
    ['one field alone', { username: '<i>' }, '&lt;i&gt;', missing],
  ])(
    'after %s, with what was typed and its error, and nothing of an earlier sign-in',
    async (_, form, value, words) => {
      const cookies = cookiesOf(await portal.signIn('bob', 'not the password'));
      for (const table of ['throttle', 'audit_event']) await portal.sql`delete from ${portal.sql(table)}`;
      const answer = await portal.send({ method: 'POST', url, form: form as Record<string, string>, cookies });
      expect(answer.statusCode).toBe(400);
      expect(answer.body).toMatch(/<form[^>]* action="\/portal\/performlogin"/);
      expect(answer.body).toContain(`value="${value}"`);
      expect(answer.body).toMatch(words);
      for (const secret of [testPassword, 'ppp', 'value="bob"']) expect(answer.body).not.toContain(secret);
      expect(answer.body).not.toMatch(/\b[0-9A-Z]{4}-[0-9A-Z]{4}\b/);
      expect(answer.cookies).toEqual([]);
      for (const table of ['throttle', 'audit_event'])
        expect(await portal.sql`select from ${portal.sql(table)}`, table).toHaveLength(0);
    },
  );
});
