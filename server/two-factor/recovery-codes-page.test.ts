import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { limits } from '#server/limits.ts';
import { cookiesOf, type PortalForTest, portalForTest, testPassword } from '#server/testing/portal-for-test.ts';
import {
  type Browser,
  halfSession,
  pageOf,
  recoveryCodesUrl,
  registerApp,
  startTwoFactorAfresh,
} from '#server/testing/two-factor-for-test.ts';

let portal: PortalForTest;
/** Alice has just registered an app. */
let cookies: Browser;
let codes: string[];
beforeAll(async () => {
  portal = await portalForTest();
});
beforeEach(async () => {
  await startTwoFactorAfresh(portal);
  ({ cookies } = await registerApp(portal, await halfSession(portal, 'alice')));
  codes = (await shown()).codes ?? [];
});
afterAll(() => portal.close());

/** What the page of recovery codes tells. */
async function shown(held = cookies): Promise<{ codes: string[] | null; left: number }> {
  const { status, serverPage } = await pageOf(portal, { url: recoveryCodesUrl, cookies: held });
  if (status !== 200 || serverPage?.name !== 'recoveryCodes') throw new Error(`${status} ${serverPage?.name}`);
  return { codes: serverPage.codes, left: serverPage.left };
}

describe('recovery codes after a registration', () => {
  it('are ten of sixty bits, in groups, all different', async () => {
    expect(codes).toHaveLength(10);
    for (const code of codes) expect(code).toMatch(/^(?:[0-9A-HJKMNP-TV-Z]{4}-){2}[0-9A-HJKMNP-TV-Z]{4}$/);
    expect(new Set(codes).size).toBe(10);
    expect(await portal.sql`select from recovery_code where length(code_hash) = 32`).toHaveLength(10);
  });

  it('are shown for ten minutes, the same over reloads; afterwards it is told how many are left', async () => {
    portal.wait(limits.recoveryCodesShown - 1);
    expect(await shown()).toEqual({ codes, left: 10 });
    portal.wait(1);
    expect(await shown()).toEqual({ codes: null, left: 10 });
  });

  it('are shown to nobody but who has just signed in as this user', async () => {
    const url = `${recoveryCodesUrl}?redirectURL=%2Fportal%2Fx&lang=de`;
    const toLogin = { status: 302, location: '/portal/login?destination=%2Fportal%2Fx&lang=de' };
    const half = await halfSession(portal, 'alice');
    for (const held of [{}, half, { 'vestibule-session': 'x'.repeat(43) }])
      expect(await pageOf(portal, { url, cookies: held })).toEqual(toLogin);
    const pat = cookiesOf(await portal.signIn('pat', testPassword));
    expect(await shown(pat)).toEqual({ codes: null, left: 0 });
    const old = new Date(portal.deps.now().getTime() - limits.freshSignIn - limits.recoveryCodesShown - 1);
    await portal.sql`update session set created_at = ${old} where stage = 'full'`;
    expect(await shown()).toEqual({ codes: null, left: 10 });
  });

  it('are on a page that is not kept, not compressed beside its address, and leads on to a place of ours', async () => {
    const headers = { 'accept-encoding': 'br, gzip' };
    const answer = await portal.send({
      url: `${recoveryCodesUrl}?redirectURL=https://evil.example/`,
      cookies,
      headers,
    });
    expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', 'content-type': 'text/html; charset=utf-8' });
    expect(answer.headers['content-encoding']).toBeUndefined();
    for (const code of codes) expect(answer.body).toContain(code);
    expect(answer.body).not.toContain('href="https://evil');
    const { serverPage } = await pageOf(portal, {
      url: `${recoveryCodesUrl}?redirectURL=https://evil.example/`,
      cookies,
    });
    expect(serverPage).toMatchObject({ destination: '/portal/portal.html' });
  });
});
