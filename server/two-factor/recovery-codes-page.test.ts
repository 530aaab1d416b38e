import { beforeEach, describe, expect, it } from 'vitest';
import { changeUser } from '#server/accounts/change-user.ts';
import { limits } from '#server/limits.ts';
import { tokenHash } from '#server/secrets/token.ts';
import { cookiesOf, testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import {
  askForKey,
  type Browser,
  codeNow,
  halfSession,
  pageOf,
  recoveryCodesShown,
  recoveryCodesUrl,
  registerApp,
  registrationUrl,
  signInWithApp,
  startTwoFactorAfresh,
  step,
  verify,
} from '#testing/two-factor-for-test.ts';

/** Alice has just registered an app. */
let cookies: Browser;
let codes: string[];
let secret: string;
const portal = portalOfFile();
beforeEach(async () => {
  await startTwoFactorAfresh(portal);
  ({ cookies, secret } = await registerApp(portal, await halfSession(portal, 'alice')));
  codes = (await shown()).codes ?? [];
});

const shown = (held = cookies) => recoveryCodesShown(portal, held);

describe('recovery codes after a registration', () => {
  it('are ten of sixty bits, in groups, all different', async () => {
    expect(codes).toHaveLength(10);
    for (const code of codes) expect(code).toMatch(/^(?:[0-9A-HJKMNP-TV-Z]{4}-){2}[0-9A-HJKMNP-TV-Z]{4}$/);
    expect(new Set(codes).size).toBe(10);
    expect(await portal.sql`select from recovery_code where length(code_hash) = 32`).toHaveLength(10);
  });

  it('are shown for ten minutes, the same after reloads; then only how many are left', async () => {
    portal.wait(limits.recoveryCodesShown - 1);
    expect(await shown()).toEqual({ codes, left: 10 });
    portal.wait(1);
    expect(await shown()).toEqual({ codes: null, left: 10 });
  });

  it('are shown only to sessions of this user', async () => {
    const url = `${recoveryCodesUrl}?redirectURL=%2Fportal%2Fx&lang=de`;
    const toLogin = { status: 302, location: '/portal/login?destination=%2Fportal%2Fx&lang=de' };
    const half = await halfSession(portal, 'alice');
    for (const held of [{}, half, { 'vestibule-session': 'x'.repeat(43) }])
      expect(await pageOf(portal, { url, cookies: held })).toEqual(toLogin);
    const pat = cookiesOf(await portal.signIn('pat', testPassword));
    expect(await shown(pat)).toEqual({ codes: null, left: 0 });
  });

  it('are shown only to the session that registered, and end with it', async () => {
    portal.wait(step);
    const byApp = await signInWithApp(portal, 'alice', secret);
    const byRecovery = cookiesOf(await verify(portal, codes[0], await halfSession(portal, 'alice')));
    for (const other of [byApp, byRecovery]) expect(await shown(other)).toEqual({ codes: null, left: 9 });
    expect(await shown()).toEqual({ codes, left: 9 });
    await portal.sql`update shown_recovery_codes set session_id = (select id from session where token_hash = ${tokenHash(byApp['vestibule-session'] ?? '')})`;
    expect((await shown(byApp)).codes).toBeNull();
    expect((await shown()).codes).toBeNull();
  });

  it.each<[string, () => Promise<unknown>]>([
    ['it is signed out', () => portal.send({ method: 'POST', url: '/portal/logout', cookies })],
    ['its browser signs in again', () => portal.signIn('alice', testPassword, { cookies })],
    ['the password is changed', () => changeUser(portal.sql, 'alice', { passwordHash: 'x' }, portal.deps.now())],
  ])('are deleted when that session ends: %s', async (_what, happens) => {
    expect(await portal.sql`select from shown_recovery_codes`).toHaveLength(1);
    await happens();
    expect(await portal.sql`select from shown_recovery_codes`).toEqual([]);
  });

  it('are shown to users who set up an app voluntarily, under the token of their continued session', async () => {
    const { cookies: pat } = await registerApp(portal, cookiesOf(await portal.signIn('pat', testPassword)));
    expect((await shown(pat)).codes).toHaveLength(10);
    expect((await shown()).codes).toEqual(codes);
  });

  it.each([
    ['the page’s call for the key', registrationUrl],
    ['another tab’s page', '/portal/twoFactorRegistration'],
  ])('are shown, too, where %s, asked before the press, is answered after it', async (_what, url) => {
    const browser = await halfSession(portal, 'adam');
    const { totpSecret } = (await askForKey(portal, browser)).json<{ totpSecret: string }>();
    const late = cookiesOf(await portal.send({ url, cookies: browser }));
    const held = { ...browser, ...cookiesOf(await verify(portal, codeNow(portal, totpSecret), browser)), ...late };
    expect((await shown(held)).codes).toHaveLength(10);
  });

  it('are on a page that is not cached, not compressed together with its address, and leads only to our own pages', async () => {
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
