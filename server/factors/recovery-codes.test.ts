import { beforeEach, describe, expect, it } from 'vitest';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { userId } from '#test/support/reset-for-test.ts';
import {
  type Browser,
  giveApp,
  giveRecoveryCodes,
  halfSession,
  pageOf,
  recoveryCodesShown,
  recoveryCodesUrl,
  registerApp,
  signInWithApp,
  startTwoFactorAfresh,
  step,
  verdict,
  verify,
  verifyByForm,
} from '#test/support/two-factor-for-test.ts';
import { limits } from '../limits.ts';

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
    const answer = await verify(portal, codes[3], await halfSession(portal, 'alice'));
    expect([verdict(answer), answer.headers['vestibule-next']]).toEqual([true, 'recoveryCodes']);
    expect(await shown(cookiesOf(answer))).toEqual({ codes: null, left: 9 });
    expect(await tried(codes[3])).toBe(false);
    const form = { code: codes[4] ?? '', redirectURL: '/portal/x' };
    const posted = await verifyByForm(portal, form, await halfSession(portal, 'alice'));
    expect(posted.headers.location).toBe(`${recoveryCodesUrl}?redirectURL=%2Fportal%2Fx`);
  });

  it('is read however it is typed', async () => {
    const ways: ((code: string) => string)[] = [
      (code) => code.toLowerCase().replaceAll('-', ''),
      (code) => ` ${code.replaceAll('-', ' ')} `,
      (code) => code.replaceAll('-', '\u2013'),
      (code) => code.replaceAll('0', 'O').replaceAll('1', 'I'),
      (code) => code.replaceAll('0', 'o').replaceAll('1', 'l'),
    ];
    for (const [at, way] of ways.entries()) expect([at, await tried(way(codes[at] ?? ''))]).toEqual([at, true]);
  });

  it('is refused if a letter differs, is missing or extra: uncounted if it cannot be one', async () => {
    const code = codes[0] ?? '';
    const half = await halfSession(portal, 'alice');
    for (const text of [code.slice(1), `${code}0`, `${code.slice(0, -1)}U`, codes.join(' ')])
      expect(verdict(await verify(portal, text, half))).toEqual([400, null]);
    expect(verdict(await verify(portal, code.slice(0, -1) + (code.endsWith('2') ? '3' : '2'), half))).toBe(false);
    expect(await portal.sql`select code_tries from session where stage = 'half'`).toEqual([{ code_tries: 1 }]);
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
    for (const username of ['bob', 'adam']) {
      const [code] = await giveRecoveryCodes(portal, username);
      const half = await halfSession(portal, username);
      expect(verdict(await verify(portal, code, half))).toBe(false);
      const page = await pageOf(portal, { url: '/portal/twoFactorRegistration', cookies: half });
      expect(page.secondFactor?.mayRecover ?? false).toBe(false);
    }
  });
});

describe('recovery codes after a registration', () => {
  it('are shown for ten minutes, the same after reloads; then only how many are left', async () => {
    portal.wait(limits.recoveryCodesShown - 1);
    expect(await shown()).toEqual({ codes, left: 10 });
    portal.wait(1);
    expect(await shown()).toEqual({ codes: null, left: 10 });
  });

  it('are shown only to the session that registered: to no half one, nor to another of this user', async () => {
    const url = `${recoveryCodesUrl}?redirectURL=%2Fportal%2Fx&lang=de`;
    for (const held of [{}, await halfSession(portal, 'alice'), { 'vestibule-session': 'x'.repeat(43) }] as Browser[])
      expect(await pageOf(portal, { url, cookies: held })).toEqual({
        status: 302,
        location: '/portal/login?destination=%2Fportal%2Fx&lang=de',
      });
    expect(await shown(cookiesOf(await portal.signIn('pat', testPassword)))).toEqual({ codes: null, left: 0 });
    portal.wait(step);
    const other = await signInWithApp(portal, 'alice', secret);
    expect(await shown(other)).toEqual({ codes: null, left: 10 });
    // Nor if the row says so: they are sealed for the other one.
    await portal.sql`update shown_recovery_codes set session_id = (select id from session where id <> session_id limit 1)`;
    expect([(await shown(other)).codes, (await shown()).codes]).toEqual([null, null]);
  });

  it('are on a page that is neither cached nor compressed, and leads only to our own pages', async () => {
    const url = `${recoveryCodesUrl}?redirectURL=https://evil.example/`;
    const answer = await portal.send({ url, cookies, headers: { 'accept-encoding': 'br, gzip' } });
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.headers['content-encoding']).toBeUndefined();
    for (const code of codes) expect(answer.body).toContain(code);
    expect(answer.body).not.toContain('href="https://evil');
    expect((await pageOf(portal, { url, cookies })).screen).toMatchObject({ destination: '/portal/portal.html' });
  });
});
