import { beforeEach, describe, expect, it } from 'vitest';
import { accountEvents, markOf, postAccount, signedIn, startAccountAfresh } from '#testing/account-page-for-test.ts';
import { cookiesOf, testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { newPassword } from '#testing/reset-for-test.ts';
import { type Browser, codeNow, giveApp, signInWithApp, step } from '#testing/two-factor-for-test.ts';

// Docs/decisions/0028: the second press of a button gets the session of the first; nothing else does.

const portal = portalOfFile();
beforeEach(() => startAccountAfresh(portal));

const change = { do: 'change', current: testPassword, password: newPassword, repeat: newPassword };
const sessionOf = (answer: Parameters<typeof cookiesOf>[0]) => cookiesOf(answer)['vestibule-session'];

/** Changed a moment ago; the cookie that was copied before is over. */
async function changed(): Promise<{ cookies: Browser; form: typeof change & { form: string } }> {
  const cookies = await signedIn(portal, 'alice');
  const form = { ...change, form: await markOf(portal, cookies) };
  expect(sessionOf(await postAccount(portal, 'password', form, cookies))).toBeDefined();
  return { cookies, form };
}

const failures = async (kind: string) =>
  (await portal.sql<{ failures: number }[]>`select failures from throttle where key like ${`${kind}:%`}`)[0]?.failures;

describe('with a session cookie that is over', () => {
  it('the same form in another browser, or from another address, gets no session', async () => {
    const { cookies, form } = await changed();
    const elsewhere = [{ headers: { 'user-agent': 'other' } }, { from: '203.0.113.9' }];
    for (const more of elsewhere) {
      const answer = await postAccount(portal, 'password', form, cookies, more);
      expect([sessionOf(answer), answer.headers.location?.startsWith('/portal/?destination')]).toEqual([
        undefined,
        true,
      ]);
    }
  });

  it('another action with the same fields gets none, and is no guess', async () => {
    const { cookies, form } = await changed();
    for (const [section, action] of [
      ['password', 'prove'],
      ['app', 'setUp'],
      ['sessions', 'end'],
    ] as const)
      expect(sessionOf(await postAccount(portal, section, { ...form, do: action }, cookies))).toBeUndefined();
    expect(await failures('account')).toBeUndefined();
  });

  it('a guess at the password counts as one at the sign-in, and after them the right press gets nothing', async () => {
    const { cookies, form } = await changed();
    for (let guess = 0; guess < 5; guess += 1)
      expect(
        sessionOf(await postAccount(portal, 'password', { ...form, password: `x${guess}` }, cookies)),
      ).toBeUndefined();
    expect(await failures('account')).toBe(5);
    expect((await accountEvents(portal)).slice(-5)).toEqual(Array(5).fill('fresh-proof-refused wrong-password'));
    expect(sessionOf(await postAccount(portal, 'password', form, cookies))).toBeUndefined();
  });

  it('a guess at a code counts as a code; the same press does not', async () => {
    const secret = await giveApp(portal, 'alice');
    const cookies = await signInWithApp(portal, 'alice', secret);
    portal.wait(11 * 60_000);
    const code = codeNow(portal, secret);
    const form = { do: 'prove', for: 'remove', code, form: await markOf(portal, cookies) };
    const first = sessionOf(await postAccount(portal, 'app', form, cookies));
    expect(sessionOf(await postAccount(portal, 'app', form, cookies))).toBe(first);
    expect(await failures('code')).toBeUndefined();
    expect(sessionOf(await postAccount(portal, 'app', { ...form, code: '000000' }, cookies))).toBeUndefined();
    expect(await failures('code')).toBe(1);
    portal.wait(step);
  });

  it('the same press gets none once the session has ended, or its person is inactive', async () => {
    const { cookies, form } = await changed();
    await portal.sql`update portal_user set active = false where username = 'alice'`;
    expect(sessionOf(await postAccount(portal, 'password', form, cookies))).toBeUndefined();
  });
});

it.each(['fresh_proof', 'device_hash'])(
  'a press that is read while the first one is answered gets its session: %s',
  async (statement) => {
    const cookies = await signInWithApp(portal, 'alice', await giveApp(portal, 'alice'));
    const form = { do: 'remove', form: await markOf(portal, cookies) };
    const press = () => postAccount(portal, 'app', form, cookies);
    const { sql } = portal.deps;
    let first: ReturnType<typeof press> | undefined;
    const held = (...parts: Parameters<typeof sql>) => {
      const isHeld = !first && (parts[0] as unknown as readonly string[]).join('').includes(statement);
      if (!isHeld) return sql(...parts);
      first = press();
      return first.then(() => sql(...parts));
    };
    portal.deps.sql = Object.assign(held, sql) as unknown as typeof sql;
    const second = await press().finally(() => {
      portal.deps.sql = sql;
    });
    const token = first && sessionOf(await first);
    expect(token).toBeDefined();
    expect(sessionOf(second)).toBe(token);
  },
);
