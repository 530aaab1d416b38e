import { beforeEach, describe, expect, it } from 'vitest';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { userId } from '#test/support/reset-for-test.ts';
import {
  askForKey,
  type Browser,
  codeNow,
  giveApp,
  giveRecoveryCodes,
  halfSession,
  pageOf,
  recoveryCodesShown,
  recoveryCodesUrl,
  registerApp,
  registrationUrl,
  signInWithApp,
  startTwoFactorAfresh,
  step,
  verdict,
  verify,
  verifyByForm,
} from '#test/support/two-factor-for-test.ts';
import { resetTwoFactor } from '../accounts/act-on-user.ts';
import { changeUser } from '../accounts/users.ts';
import { tokenHash } from '../crypto/token.ts';
import { limits } from '../limits.ts';
import { countRecoveryCodes } from './recovery-codes.ts';

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

/** The outcome of a recovery code in a half session of its own. */
const tried = async (code: string | undefined, username = 'alice') =>
  verdict(await verify(portal, code, await halfSession(portal, username)));

describe('a recovery code', () => {
  it('works once, and the page says how many are left', async () => {
    const half = await halfSession(portal, 'alice');
    const answer = await verify(portal, codes[3], half);
    expect([verdict(answer), answer.headers['vestibule-next']]).toEqual([true, 'recoveryCodes']);
    portal.wait(limits.recoveryCodesShown);
    expect(await shown(cookiesOf(answer))).toEqual({ codes: null, left: 9 });
    expect(await tried(codes[3])).toBe(false);
    const form = { code: codes[4] ?? '', redirectURL: '/portal/x' };
    const posted = await verifyByForm(portal, form, await halfSession(portal, 'alice'));
    expect(posted.headers.location).toBe(`${recoveryCodesUrl}?redirectURL=%2Fportal%2Fx`);
    expect((await shown(cookiesOf(posted))).left).toBe(8);
  });

  it('is read however it is typed', async () => {
    const ways: ((code: string) => string)[] = [
      (code) => code.toLowerCase(),
      (code) => code.replaceAll('-', ''),
      (code) => ` ${code.replaceAll('-', ' ')} `,
      (code) => code.replaceAll('-', '\u2013'),
      (code) => code.replaceAll('0', 'O').replaceAll('1', 'I'),
      (code) => code.replaceAll('0', 'o').replaceAll('1', 'l'),
      (code) => [...code].join(' '),
    ];
    for (const [at, way] of ways.entries()) expect([at, await tried(way(codes[at] ?? ''))]).toEqual([at, true]);
  });

  it('is refused if a letter differs, is missing or extra: uncounted if it cannot be one', async () => {
    const code = codes[0] ?? '';
    const half = await halfSession(portal, 'alice');
    for (const text of [code.slice(1), `${code}0`, `${code.slice(0, -1)}U`, `${code.slice(0, -1)}*`, codes.join(' ')])
      expect(verdict(await verify(portal, text, half))).toEqual([400, null]);
    expect(verdict(await verify(portal, code.slice(0, -1) + (code.endsWith('2') ? '3' : '2'), half))).toBe(false);
    expect(await portal.sql`select code_tries from session where stage = 'half'`).toEqual([{ code_tries: 1 }]);
    expect(verdict(await verify(portal, code, half))).toBe(true);
  });

  it('MF-08 of another user does not work, nor does a copied row', async () => {
    await giveApp(portal, 'adam');
    expect(await tried(codes[0], 'adam')).toBe(false);
    const adam = await userId(portal, 'adam');
    await portal.sql`insert into recovery_code select ${adam}, code_hash, null from recovery_code`;
    expect(await tried(codes[0], 'adam')).toBe(false);
    expect(await tried(codes[0])).toBe(true);
  });

  it('replaces only an app: not a code by email, and not a registration', async () => {
    for (const username of ['bob', 'adam'] as const) {
      const given = await giveRecoveryCodes(portal, username);
      expect(await tried(given[0], username)).toBe(false);
      expect(await countRecoveryCodes(portal.sql, await userId(portal, username))).toBe(10);
      const page = await pageOf(portal, {
        url: '/portal/twoFactorRegistration',
        cookies: await halfSession(portal, username),
      });
      expect(page.secondFactor?.mayRecover ?? false).toBe(false);
    }
  });

  it('is offered as long as there is one', async () => {
    const offered = async () =>
      (await pageOf(portal, { url: '/portal/twoFactor', cookies: await halfSession(portal, 'alice') })).secondFactor
        ?.mayRecover;
    expect(await offered()).toBe(true);
    for (const code of codes) expect(await tried(code)).toBe(true);
    expect(await offered()).toBe(false);
    await portal.sql`update recovery_code set used_at = null where ctid = (select min(ctid) from recovery_code)`;
    expect(await offered()).toBe(true);
  });

  it('is invalid once the second factor was reset, and a new app brings new ones', async () => {
    await resetTwoFactor(portal.sql, 'alice', portal.deps.now());
    expect(await portal.sql`select from recovery_code`).toEqual([]);
    expect(await portal.sql`select from shown_recovery_codes`).toEqual([]);
    ({ cookies } = await registerApp(portal, await halfSession(portal, 'alice')));
    expect(await tried(codes[0])).toBe(false);
    expect(await tried((await shown()).codes?.[0])).toBe(true);
  });
});

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
    const { screen } = await pageOf(portal, {
      url: `${recoveryCodesUrl}?redirectURL=https://evil.example/`,
      cookies,
    });
    expect(screen).toMatchObject({ destination: '/portal/portal.html' });
  });
});
