import type { Response } from 'light-my-request';
import { describe, expect, it } from 'vitest';
import { addAttackFixtures } from '#test/support/accounts-for-test.ts';
import { testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';

const portal = portalOfFile({ once: addAttackFixtures });

/** What a visitor sees of an answer, with random parts replaced by text of equal length. */
function seen(response: Response) {
  const headers = { ...response.headers, date: '' };
  const cookies = response.cookies.map(({ name, value, ...rest }) => ({ name, length: value.length, ...rest }));
  return { status: response.statusCode, body: response.body, headers: { ...headers, 'set-cookie': cookies } };
}

async function lock(username: string): Promise<void> {
  for (let guess = 0; guess < 6; guess += 1)
    await portal.signIn(username, `guess ${guess}`, { from: `192.0.2.${guess}` });
}

const unknownName = 'nobody';

describe('user enumeration', () => {
  it('EN-01 EN-11 every refused sign-in looks like that of an unknown user, including cookies', async () => {
    const expected = seen(await portal.signIn(unknownName, 'wrong password'));
    expect(expected).toMatchObject({ status: 303, headers: { location: '/portal/loginfail/default' } });
    await lock('alice');
    // Names of equal length, since the typed name is returned in a cookie.
    const cases = [
      ['wrong password', 'bob', 'wrong password'],
      ['inactive', 'dave', testPassword],
      ['no customer', 'erin', testPassword],
      ['locked', 'alice', testPassword],
      ['without a password', 'sso-only', testPassword],
    ] as const;
    for (const [what, username, password] of cases) {
      const answer = seen(await portal.signIn(username, password));
      const unknown = seen(await portal.signIn('x'.repeat(username.length), 'wrong password'));
      expect(answer, what).toEqual(unknown);
      expect({ ...answer.headers, 'set-cookie': null }, what).toEqual({ ...expected.headers, 'set-cookie': null });
    }
  });

  it('EN-03 BF-03 every form of a name counts on the same account', async () => {
    const forms = ['bob', 'bob@acme.test', 'BOB', 'bob ', 'ｂｏｂ'];
    await portal.sql`delete from throttle`;
    for (const [index, form] of forms.entries()) await portal.signIn(form, `another guess ${index}`);
    const [row] = await portal.sql`
      select t.failures from throttle t join portal_user u on t.key = 'account:' || u.id where u.username = 'bob'`;
    expect(row?.failures).toBe(5);
    expect((await portal.signIn('bob', testPassword)).headers.location).toBe('/portal/loginfail/default');
  });

  it('EN-13 an oversized password is refused before any work, for known and unknown users alike', async () => {
    await portal.sql`delete from throttle`;
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
    await portal.sql`delete from throttle`;
    expect((await portal.signIn('carol', 'wrong')).headers.location).toBe('/portal/loginfail/default');
    expect((await portal.signIn('carol', testPassword)).headers.location).toBe(
      '/portal/loginfail/ip?ipaddress=198.51.100.7',
    );
  });
});
