import { beforeEach, describe, expect, it } from 'vitest';
import { signedInAs } from '#test/support/accounts-for-test.ts';
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
  wrongCodes,
} from '#test/support/two-factor-for-test.ts';
import { limits } from '../limits.ts';
import { composeText } from '../mail/compose-mail.ts';
import { keepHouse } from '../operations/housekeeping.ts';

const portal = portalOfFile({ each: startTwoFactorAfresh });

const screen = '/portal/twoFactorRegistration';
const ask = (held: Browser, headers: Record<string, string> = {}, query = '') =>
  askForKey(portal, held, { url: registrationUrl + query, headers: { accept: 'application/json', ...headers } });
const secretOf = async (held: Browser) => (await ask(held)).json<{ totpSecret: string }>().totpSecret;
const pending = async () => (await portal.sql`select from pending_totp`).length;

describe('what an app is registered with, after the password', () => {
  let cookies: Browser;
  beforeEach(async () => {
    cookies = await halfSession(portal, 'alice');
  });

  /** Expects that nothing is shown and no secret is created. */
  async function expectRefused(status: number, held: Browser, headers: Record<string, string> = {}): Promise<void> {
    const before = await pending();
    const answer = await ask(held, headers);
    expect(answer.statusCode).toBe(status);
    expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8');
    expect(answer.body).not.toMatch(/[A-Z2-7]{32}|otpauth|data:/);
    expect(await pending()).toBe(before);
  }

  it('MF-11 MF-18 is a secret and its image, the same after reloads, on the page too, and not to be cached', async () => {
    const first = await ask(cookies);
    expect(first.headers).toMatchObject({ 'cache-control': 'no-store', 'cross-origin-resource-policy': 'same-origin' });
    expect(first.json()).toEqual({
      totpSecret: expect.stringMatching(/^[A-Z2-7]{32}$/),
      url: expect.stringMatching(/^data:image\/png;base64,[A-Za-z0-9+/]+=*$/),
    });
    portal.wait(limits.halfSession - 1000);
    expect((await ask(cookies)).json()).toEqual(first.json());
    const page = await pageOf(portal, { url: screen, cookies });
    expect([page.registration, page.secondFactor?.account]).toEqual([first.json(), 'alice']);
  });

  it('MF-11 is never shown again once it is confirmed, to half or full sessions', async () => {
    const { cookies: full } = await registerApp(portal, cookies);
    await expectRefused(401, cookies);
    await expectRefused(409, full);
    await expectRefused(409, await halfSession(portal, 'alice'));
    expect(await pageOf(portal, { url: screen, cookies: full })).toEqual({
      status: 302,
      location: '/portal/portal.html',
    });
    expect(await pending()).toBe(0);
  });

  it('MF-13 does not count until confirmed, by a code of its own browser', async () => {
    const secret = await secretOf(cookies);
    const again = await portal.signIn('alice', testPassword);
    expect(again.headers.location).toMatch(/^\/portal\/twoFactorRegistration\?/);
    const other = await halfSession(portal, 'alice');
    for (const shown of [false, true]) {
      if (shown) expect(await secretOf(other)).not.toBe(secret);
      expect(verdict(await verify(portal, codeNow(portal, secret), other))).toBe(false);
    }
    expect(verdict(await verify(portal, codeNow(portal, secret), cookies))).toBe(true);
  });

  it('EN-12 HD-08 is not shown while a code by email is pending, or to anyone not signed in', async () => {
    await expectRefused(409, await halfSession(portal, 'bob'));
    await expectRefused(401, {});
    for (const query of ['?username=alice', '?userId=1', '?token=x']) {
      const [known, unknown] = [await ask({}, {}, query), await ask({}, {}, query.replace('alice', 'nobody'))];
      expect([known.statusCode, known.body]).toEqual([401, unknown.body]);
    }
    for (const end of ['/a.css', '.css', '/x', ';x'])
      expect((await portal.send({ url: registrationUrl + end, cookies })).statusCode, end).toBe(404);
  });

  it('CS-16 another site’s page may not request it, and creates none', async () => {
    for (const site of ['cross-site', 'same-site', '', 'same-origin, cross-site'])
      await expectRefused(403, cookies, { 'sec-fetch-site': site, 'sec-fetch-dest': 'image' });
    for (const site of ['same-origin', 'none'])
      expect((await ask(cookies, { 'sec-fetch-site': site })).statusCode).toBe(200);
  });

  it('stays the same over a sign-in that was cancelled, in this browser alone, until no session could confirm it', async () => {
    const own = await secretOf(cookies);
    const out = await portal.send({ method: 'POST', url: '/portal/logout', cookies });
    const { 'vestibule-device': device = '' } = { ...cookies, ...cookiesOf(out) };
    portal.wait(limits.halfSession);
    const again = { ...(await halfSession(portal, 'alice')), 'vestibule-device': device };
    // Somebody with the password alone, in another browser, neither sees nor plants it.
    expect(await secretOf(await halfSession(portal, 'alice'))).not.toBe(own);
    const adam = { ...(await halfSession(portal, 'adam')), 'vestibule-device': device };
    expect(await secretOf(adam)).not.toBe(own);
    expect(await secretOf(again)).toBe(own);
    expect(verdict(await verify(portal, codeNow(portal, own), again))).toBe(true);
    expect(await pending()).toBe(1);
    portal.wait(limits.pendingApp);
    await keepHouse(portal.deps);
    expect(await pending()).toBe(0);
  });

  it('once confirmed, ends what was opened without it: sessions, sign-ins, and remembered devices', async () => {
    await portal.sql`update customer set two_factor = 'off' where key = 'app'`;
    const before = cookiesOf(await portal.signIn('alice', testPassword));
    await portal.sql`update customer set two_factor = 'app' where key = 'app'`;
    const other = await halfSession(portal, 'alice');
    await portal.sql`
      insert into remembered_device (token_hash, user_id, address, made_at, last_used_at, ends_at)
      select sha256(username::bytea), id, '192.0.2.1', now(), now(), 'infinity' from portal_user where username in ('alice', 'bob')`;
    const { secret, cookies: full } = await registerApp(portal, cookies);
    expect([await signedInAs(portal, before), await signedInAs(portal, full)]).toEqual([null, 'alice']);
    expect(verdict(await verify(portal, codeNow(portal, secret, 1), other))).toEqual([401, 'signInExpired']);
    const left = await portal.sql`select username from remembered_device d join portal_user u on u.id = d.user_id`;
    expect(left).toEqual([{ username: 'bob' }]);
  });
});

describe('an app that somebody sets up of his own will', () => {
  /** Pat, who needs no second factor, has just signed in. */
  let cookies: Browser;
  beforeEach(async () => {
    cookies = cookiesOf(await portal.signIn('pat', testPassword));
  });

  it('SE-02 goes on under another token, ends the other sessions, is reported, and is required at once', async () => {
    const elsewhere = cookiesOf(await portal.signIn('pat', testPassword));
    const { secret, cookies: after } = await registerApp(portal, cookies);
    expect(after['vestibule-session']).not.toBe(cookies['vestibule-session']);
    const who = [after, cookies, elsewhere].map((held) => signedInAs(portal, held));
    expect(await Promise.all(who)).toEqual(['pat', null, null]);
    await portal.workOff();
    expect(portal.mails.map(({ recipient, subject }) => [recipient, subject])).toEqual([
      [
        'pat@acme.test',
        composeText({ language: 'en', texts: {} }, 'mail-secondFactorAdded-subject', { hub: 'Vestibule' }),
      ],
    ]);
    expect(await portal.sql`select event from audit_event order by id desc limit 1`).toEqual([
      { event: 'two-factor-registered' },
    ]);
    portal.wait(step);
    // Nor is it set up twice.
    expect(verdict(await verify(portal, codeNow(portal, secret), after))).toEqual([401, 'signInExpired']);
    const again = await halfSession(portal, 'pat');
    expect(verdict(await verify(portal, codeNow(portal, secret), again))).toBe(true);
  });

  it('may be set up within ten minutes of the sign-in; a moment later the page asks for another', async () => {
    const secret = await secretOf(cookies);
    portal.wait(limits.freshSignIn);
    expect(await secretOf(cookies)).toBe(secret);
    portal.wait(1);
    const late = await ask(cookies);
    expect([late.statusCode, late.body.includes(secret)]).toEqual([409, false]);
    const code = codeNow(portal, secret);
    const refused = await verify(portal, code, cookies);
    expect([refused.statusCode, refused.headers['vestibule-notice']]).toEqual([409, 'signInTooOld']);
    const url = `${screen}?redirectURL=%2Fportal%2Fx%3Fy%3D1&lang=de`;
    const again = { name: 'registerElsewhere', why: 'tooOld', comesBackTo: url, goesOnTo: '/portal/x?y=1' };
    expect((await pageOf(portal, { url, cookies })).screen).toEqual(again);
    expect([await portal.sql`select from totp`, await signedInAs(portal, cookies)]).toEqual([[], 'pat']);
  });

  it('BF-11 is confirmed only by its own code, and its attempts count for the account', async () => {
    const secret = await secretOf(cookies);
    const { freeFailures, firstWait } = limits.throttle.code;
    for (const code of wrongCodes(portal, secret, freeFailures))
      expect(verdict(await verify(portal, code, cookies))).toBe(false);
    const waiting = await verify(portal, codeNow(portal, secret), cookies);
    expect([waiting.statusCode, waiting.headers['retry-after']]).toEqual([429, String(firstWait / 1000)]);
    expect(await signedInAs(portal, cookies)).toBe('pat');
    portal.wait(firstWait);
    // Of many posts at once one confirms it.
    const code = codeNow(portal, secret);
    const answers = await Promise.all(Array.from({ length: 8 }, () => verify(portal, code, cookies)));
    const winners = answers.filter(({ body }) => body === 'true');
    expect(winners.map(cookiesOf).map((held) => held['vestibule-session'])).toEqual([expect.any(String)]);
    expect(await portal.sql`select from recovery_code`).toHaveLength(10);
  });
});

describe('recovery codes', () => {
  /** Alice has just registered an app. */
  let cookies: Browser;
  let codes: string[];
  let secret: string;
  beforeEach(async () => {
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
});
