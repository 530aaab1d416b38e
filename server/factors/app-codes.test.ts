import { beforeEach, describe, expect, it } from 'vitest';
import { signedInAs } from '#test/support/accounts-for-test.ts';
import { cookiesOf } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import {
  codeNow,
  giveApp,
  halfSession,
  registerApp,
  signInWithApp,
  startTwoFactorAfresh,
  step,
  verdict,
  verify,
} from '#test/support/two-factor-for-test.ts';

let secret: string;
const portal = portalOfFile();
beforeEach(async () => {
  await startTwoFactorAfresh(portal);
  secret = await giveApp(portal, 'alice');
});

/** The outcome of a code in a half session of its own. */
async function tried(code: string, username = 'alice'): Promise<unknown> {
  const cookies = await halfSession(portal, username);
  const answer = await verify(portal, code, cookies);
  const left = { ...cookies, ...cookiesOf(answer) };
  expect(await signedInAs(portal, left)).toBe(answer.body === 'true' ? username : null);
  return verdict(answer);
}

describe('a code of an app', () => {
  it('MF-01 works once, however long its window is still open', async () => {
    const code = codeNow(portal, secret, 1);
    expect(await tried(code)).toBe(true);
    expect(await tried(code)).toBe(false);
    portal.wait(step);
    expect(await tried(code)).toBe(false);
    portal.wait(step);
    expect(await tried(code)).toBe(false);
  });

  it('MF-01 works once in the half session that it completed', async () => {
    const cookies = await halfSession(portal, 'alice');
    const code = codeNow(portal, secret);
    expect(verdict(await verify(portal, code, cookies))).toBe(true);
    expect(verdict(await verify(portal, code, cookies))).toEqual([401, 'signInExpired']);
  });

  it('MF-01 that confirmed the app signs nobody in', async () => {
    const { secret: adams } = await registerApp(portal, await halfSession(portal, 'adam'));
    expect(await tried(codeNow(portal, adams), 'adam')).toBe(false);
    portal.wait(step);
    expect(await tried(codeNow(portal, adams, -1), 'adam')).toBe(false);
    expect(await tried(codeNow(portal, adams), 'adam')).toBe(true);
  });

  it('MF-02 of a step before the last used one is refused, one of a later step is not', async () => {
    expect(await tried(codeNow(portal, secret, 1))).toBe(true);
    expect(await tried(codeNow(portal, secret, 0))).toBe(false);
    expect(await tried(codeNow(portal, secret, -1))).toBe(false);
    portal.wait(step);
    expect(await tried(codeNow(portal, secret, 0))).toBe(false);
    expect(await tried(codeNow(portal, secret, 1))).toBe(true);
  });

  it.each([-1, 0, 1])('of step %i is accepted', async (steps) => {
    expect(await tried(codeNow(portal, secret, steps))).toBe(true);
  });

  it('of a step outside these is refused', async () => {
    for (const steps of [-3, -2, 2, 3]) expect(await tried(codeNow(portal, secret, steps)), `${steps}`).toBe(false);
  });

  it('MF-08 of another user is refused', async () => {
    const adams = await giveApp(portal, 'adam');
    expect(await tried(codeNow(portal, adams), 'alice')).toBe(false);
    expect(await tried(codeNow(portal, secret), 'adam')).toBe(false);
    expect(await tried(codeNow(portal, secret), 'alice')).toBe(true);
    expect(await tried(codeNow(portal, adams), 'adam')).toBe(true);
  });

  it('MF-17 is compared only with the server’s clock', async () => {
    const then = new Date(portal.deps.now().getTime() - 10 * step);
    const headers = {
      date: then.toUTCString(),
      'x-time': then.toISOString(),
      'x-timestamp': String(then.getTime() / 1000),
      'if-unmodified-since': then.toUTCString(),
      'last-modified': then.toUTCString(),
    };
    const query = `?time=${then.getTime()}&epoch=${then.getTime() / 1000}&offset=-300`;
    const cookies = { ...(await halfSession(portal, 'alice')), time: String(then.getTime()) };
    expect(verdict(await verify(portal, codeNow(portal, secret, -10), cookies, { headers, query }))).toBe(false);
    expect(verdict(await verify(portal, codeNow(portal, secret), cookies, { headers, query }))).toBe(true);
  });

  it('SE-02 creates a session with another token, and ends the half one', async () => {
    const half = await halfSession(portal, 'alice');
    const full = await signInWithApp(portal, 'alice', secret);
    const tokens = [half, full].map((cookies) => cookies['vestibule-session']);
    expect(new Set(tokens).size).toBe(2);
    expect(await signedInAs(portal, full)).toBe('alice');
    const own = await halfSession(portal, 'alice');
    portal.wait(2 * step);
    const answer = await verify(portal, codeNow(portal, secret), own);
    const after = cookiesOf(answer);
    const names = ['device', 'refusal', 'session'].map((name) => `vestibule-${name}`);
    expect(Object.keys(after).sort()).toEqual(names);
    expect(after['vestibule-session']).not.toBe(own['vestibule-session']);
    expect(await signedInAs(portal, own)).toBeNull();
    expect(await signedInAs(portal, { ...own, ...after })).toBe('alice');
    const [dead] = await portal.sql`select count(*) as count from session where stage = 'half'`;
    expect(dead).toEqual({ count: 1 });
  });
});
