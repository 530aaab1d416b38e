import { beforeEach, describe, expect, it } from 'vitest';
import { resetTwoFactor } from '#server/accounts/act-on-user.ts';
import { limits } from '#server/limits.ts';
import { countRecoveryCodes } from '#server/storage/recovery-code.ts';
import { cookiesOf } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { userId } from '#testing/reset-for-test.ts';
import {
  type Browser,
  giveApp,
  giveRecoveryCodes,
  halfSession,
  pageOf,
  recoveryCodesShown,
  recoveryCodesUrl,
  registerApp,
  startTwoFactorAfresh,
  verdict,
  verify,
  verifyByForm,
} from '#testing/two-factor-for-test.ts';

/** Alice has just registered an app. */
let cookies: Browser;
let codes: string[];
const portal = portalOfFile();
beforeEach(async () => {
  await startTwoFactorAfresh(portal);
  ({ cookies } = await registerApp(portal, await halfSession(portal, 'alice')));
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
