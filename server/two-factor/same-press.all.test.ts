import { beforeEach, describe, expect, it } from 'vitest';
import { changeUser } from '#server/accounts/change-user.ts';
import { limits } from '#server/limits.ts';
import { hashPassword } from '#server/secrets/password-hash.ts';
import { holdRows, untilWaiting } from '#testing/held-rows.ts';
import { cookiesOf, testPassword } from '#testing/portal-for-test.ts';
import { otherInstanceOfFile, portalOfFile } from '#testing/portal-of-file.ts';
import { signedInAs } from '#testing/signed-in-as.ts';
import {
  type Browser,
  codeByMail,
  codeNow,
  giveApp,
  giveRecoveryCodes,
  halfSession,
  otherThan,
  recoveryCodesShown,
  recoveryCodesUrl,
  registrationUrl,
  startTwoFactorAfresh,
  step,
  triesCounted,
  verdict,
  verify,
  verifyUrl,
  wrongCodes,
} from '#testing/two-factor-for-test.ts';

// Two instances on one database, each with its own pool: the presses of one button may meet at both.
const portal = portalOfFile({ each: startTwoFactorAfresh });
const another = otherInstanceOfFile(portal);

function wait(time: number): void {
  portal.wait(time);
  another.wait(time);
}

const place = { redirectURL: '/portal/x?y=1' };
const ofAlice = { account: 'alice' };

/** Posts a code by the form, at one instance or the other. */
async function press(
  code: string,
  cookies: Browser,
  { at = portal, form = {}, headers = {}, from = '198.51.100.7' } = {},
) {
  return await at.send({ method: 'POST', url: verifyUrl, form: { code, ...place, ...form }, cookies, headers, from });
}

type Answer = Awaited<ReturnType<typeof press>>;
const sessionOf = (answer: Answer) => cookiesOf(answer)['vestibule-session'];
const tellsExpired = '/portal/login?notice=signInExpired&destination=%2Fportal%2Fx%3Fy%3D1';

/** The browser drops the first answer with its cookies and keeps the second: it is signed in, and once. */
async function expectOneSession(cookies: Browser, first: Answer, second: Answer, username: string): Promise<Browser> {
  expect(second.headers.location).toBe(first.headers.location);
  const names = ({ cookies: set }: Answer) => set.map(({ name, value }) => [name, value === '']).sort();
  expect(names(second)).toEqual(names(first));
  const kept = { ...cookies, ...cookiesOf(second) };
  expect(await signedInAs(portal, kept)).toBe(username);
  expect(await portal.sql`select stage from session`).toEqual([{ stage: 'full' }]);
  expect(await portal.sql`select from audit_event where event = 'signed-in'`).toHaveLength(1);
  return kept;
}

async function secretToRegister(cookies: Browser): Promise<string> {
  return (await portal.send({ url: registrationUrl, cookies })).json<{ totpSecret: string }>().totpSecret;
}

describe('a right code pressed twice without script lands where one press would', () => {
  it('RC-07 of an app, with every cookie of the first answer, even for a third press at another instance', async () => {
    const secret = await giveApp(portal, 'alice');
    const cookies = await halfSession(portal, 'alice');
    const code = codeNow(portal, secret);
    const first = await press(code, cookies, { form: { remember: 'on' } });
    const second = await press(code, cookies, { form: { remember: 'on' } });
    const third = await press(code, cookies, { at: another, form: { remember: 'on' } });
    for (const answer of [second, third]) {
      const kept = await expectOneSession(cookies, first, answer, 'alice');
      expect(kept['vestibule-device']).toBe(cookiesOf(first)['vestibule-device']);
      expect(kept['vestibule-remembered']).toBe(cookiesOf(first)['vestibule-remembered']);
    }
    expect(await portal.sql`select from device`).toHaveLength(1);
    expect(await portal.sql`select from remembered_device`).toHaveLength(1);
    wait(step);
    const remembered = cookiesOf(third);
    const again = { 'vestibule-remembered': remembered['vestibule-remembered'] as string };
    expect((await portal.signIn('alice', testPassword, { cookies: again })).headers.location).toBe(
      '/portal/portal.html',
    );
  });

  it('RC-07 in whichever order the presses arrive and are answered, both hold the one session', async () => {
    const secret = await giveApp(portal, 'alice');
    for (let round = 0; round < 5; round += 1) {
      wait(step);
      const cookies = await halfSession(portal, 'alice');
      const code = codeNow(portal, secret);
      const answers = await Promise.all(
        [0, 1, 2, 3].map((n) => press(code, cookies, { at: n % 2 ? another : portal })),
      );
      for (const answer of answers) {
        expect(answer.headers.location).toBe('/portal/x?y=1');
        expect(await signedInAs(portal, { ...cookies, ...cookiesOf(answer) })).toBe('alice');
      }
      expect(new Set(answers.map(sessionOf)).size).toBe(1);
      expect(await portal.sql`select from session`).toHaveLength(1);
      await portal.sql`delete from session`;
    }
    expect(await portal.sql`select from audit_event where event = 'signed-in'`).toHaveLength(5);
    expect(await portal.sql`select from audit_event where event = 'code-refused'`).toEqual([]);
  });

  it('RC-07 as the last attempt of five, while the first is still being checked', async () => {
    const secret = await giveApp(portal, 'alice');
    const cookies = await halfSession(portal, 'alice');
    for (const code of wrongCodes(portal, secret, limits.codeTries - 1)) await press(code, cookies);
    const code = codeNow(portal, secret);
    const release = await holdRows(another.pool, (sql) => sql`select from totp for update`);
    const first = press(code, cookies);
    await untilWaiting(another.pool, 1);
    const second = press(code, cookies, { at: another });
    await untilWaiting(another.pool, 2);
    await release();
    await expectOneSession(cookies, await first, await second, 'alice');
  });

  it('RC-07 by email', async () => {
    const cookies = await halfSession(portal, 'bob');
    const code = await codeByMail(portal, 'bob');
    await expectOneSession(cookies, await press(code, cookies), await press(code, cookies), 'bob');
  });

  it('RC-07 by a recovery code, which leads to the page that says how many are left', async () => {
    await giveApp(portal, 'alice');
    const [code = ''] = await giveRecoveryCodes(portal, 'alice');
    const cookies = await halfSession(portal, 'alice');
    const kept = await expectOneSession(cookies, await press(code, cookies), await press(code, cookies), 'alice');
    expect(await recoveryCodesShown(portal, kept)).toEqual({ codes: null, left: 9 });
  });

  it('RC-07 at a registration, which shows the recovery codes', async () => {
    const cookies = await halfSession(portal, 'alice');
    const code = codeNow(portal, await secretToRegister(cookies));
    const first = await press(code, cookies);
    const second = await press(code, cookies);
    expect(second.headers.location).toBe(`${recoveryCodesUrl}?redirectURL=%2Fportal%2Fx%3Fy%3D1`);
    const kept = await expectOneSession(cookies, first, second, 'alice');
    expect((await recoveryCodesShown(portal, kept)).codes).toHaveLength(10);
    expect(await portal.sql`select from recovery_code`).toHaveLength(10);
    expect(await portal.sql`select from mail where kind = 'secondFactorAdded'`).toHaveLength(1);
  });

  it.each([
    ['a known browser', (cookies: Browser) => cookies],
    [
      'a browser whose device cookie is gone',
      ({ 'vestibule-session': session = '' }: Browser) => ({ 'vestibule-session': session }),
    ],
  ])('RC-07 for an app of one’s own, in %s', async (_what, held) => {
    const cookies: Browser = held(cookiesOf(await portal.signIn('pat', testPassword)));
    const code = codeNow(portal, await secretToRegister(cookies));
    const first = await press(code, cookies);
    const second = await press(code, cookies, { at: another });
    const kept = await expectOneSession(cookies, first, second, 'pat');
    expect(kept['vestibule-device']).toBe(cookiesOf(first)['vestibule-device']);
    expect((await recoveryCodesShown(portal, kept)).codes).toHaveLength(10);
    expect(await signedInAs(portal, cookies)).toBeNull();
  });

  it.each([
    ['of the first sign-in', async () => await halfSession(portal, 'alice'), 'alice'],
    ['of one’s own', async (): Promise<Browser> => cookiesOf(await portal.signIn('pat', testPassword)), 'pat'],
  ])(
    'RC-07 at a registration %s, also if the browser took the cookies of the first answer and dropped its page',
    async (_what, begin, account) => {
      const before = await begin();
      const code = codeNow(portal, await secretToRegister(before));
      const cookies = { ...before, ...cookiesOf(await press(code, before)) };
      const second = await press(code, cookies, { form: { account } });
      expect([second.headers.location, second.cookies]).toEqual([
        `${recoveryCodesUrl}?redirectURL=%2Fportal%2Fx%3Fy%3D1`,
        [],
      ]);
      expect((await recoveryCodesShown(portal, cookies)).codes).toHaveLength(10);
      expect(await portal.sql`select from session`).toHaveLength(1);
      const { 'vestibule-registration': _own, ...copied } = cookies;
      expect((await press(code, copied, { form: { account } })).headers.location).toBe(tellsExpired);
      wait(limits.recoveryCodesShown);
      expect((await press(code, cookies, { form: { account } })).headers.location).toBe(tellsExpired);
    },
  );

  it('RC-07 up to ten seconds later', async () => {
    const secret = await giveApp(portal, 'alice');
    const cookies = await halfSession(portal, 'alice');
    const code = codeNow(portal, secret);
    const first = await press(code, cookies);
    wait(limits.sameCodePress - 1);
    expect(sessionOf(await press(code, cookies))).toBe(sessionOf(first));
    wait(1);
    const late = await press(code, cookies);
    expect([late.headers.location, late.cookies]).toEqual([tellsExpired, []]);
    expect(await signedInAs(portal, cookiesOf(first))).toBe('alice');
  });
});

describe('MF-01 what is not the same press is refused as ever', () => {
  let secret: string;
  let cookies: Browser;
  let code: string;
  let after: Browser;
  beforeEach(async () => {
    secret = await giveApp(portal, 'alice');
    cookies = await halfSession(portal, 'alice');
    code = codeNow(portal, secret);
    after = cookiesOf(await press(code, cookies));
  });

  const refused = async (answer: Promise<Answer>) => {
    const { headers, cookies: set } = await answer;
    expect([headers.location, set]).toEqual([tellsExpired, []]);
  };

  it.each([
    ['another code', () => press(codeNow(portal, secret, 1), cookies)],
    ['another browser', () => press(code, cookies, { headers: { 'user-agent': 'Mozilla/5.0 another' } })],
    ['another known browser', () => press(code, { ...cookies, 'vestibule-device': 'd'.repeat(43) })],
    ['another address', () => press(code, cookies, { from: '192.0.2.9' })],
    ['another session', () => press(code, { 'vestibule-session': 's'.repeat(43) })],
    [
      'the next session',
      () => press(code, { ...cookies, 'vestibule-session': after['vestibule-session'] ?? '' }, { form: ofAlice }),
    ],
  ])('MF-01 %s', async (_what, again) => {
    await refused(again());
    expect(await signedInAs(portal, after)).toBe('alice');
  });

  it('MF-01 RC-02 a script’s call, after a form or a script', async () => {
    expect(verdict(await verify(portal, code, cookies))).toEqual([401, 'signInExpired']);
    wait(step);
    const own = await halfSession(portal, 'alice');
    const next = codeNow(portal, secret);
    expect(verdict(await verify(portal, next, own))).toBe(true);
    expect(verdict(await verify(portal, next, own))).toEqual([401, 'signInExpired']);
    await refused(press(next, own));
  });

  it('MF-01 after ten seconds, whatever codes the new session was given since', async () => {
    const bob = await halfSession(portal, 'bob');
    const mailed = await codeByMail(portal, 'bob');
    const own = cookiesOf(await press(mailed, bob));
    wait(limits.sameCodePress);
    await secretToRegister(own);
    await press('000000', own);
    await refused(press(mailed, bob));
    expect(await signedInAs(portal, own)).toBe('bob');
  });

  const counted = async () => (await portal.sql`select from throttle where key like 'code:%'`).length;

  it('MF-01 BF-11 guesses with the session before count for the account, one after the other or at once, until even the code is refused', async () => {
    const { freeFailures } = limits.throttle.code;
    const codes = wrongCodes(portal, secret, freeFailures + 2);
    for (const guess of codes.slice(0, 2)) await refused(press(guess, cookies));
    expect(sessionOf(await press(code, cookies))).toBe(after['vestibule-session']);
    await Promise.all(
      codes.slice(2).map((guess, n) => refused(press(guess, cookies, { at: n % 2 ? another : portal }))),
    );
    await refused(press(code, cookies));
    const events = await portal.sql`select username, steps from audit_event where event = 'code-refused'`;
    expect(events).toHaveLength(freeFailures);
    expect(events[0]).toEqual({ username: 'alice', steps: [{ step: 'code', outcome: 'after the right one' }] });
    const next = await press(codeNow(portal, secret), await halfSession(portal, 'alice'));
    expect(next.headers.location).toContain('notice=tooManyAttempts');
  });

  it('but nothing counts for the button pressed again, however often', async () => {
    for (let n = 0; n < limits.throttle.code.freeFailures + 2; n += 1)
      expect(sessionOf(await press(code, cookies))).toBe(after['vestibule-session']);
    expect(await counted()).toBe(0);
  });

  it('nor for a code with the cookie that a sign-in has just replaced', async () => {
    // With a remembered device a sign-in has a press of its own.
    const replaced = { 'vestibule-session': 'S'.repeat(43), 'vestibule-remembered': 'R'.repeat(43) };
    await portal.signIn('pat', testPassword, { cookies: replaced });
    await refused(press(code, replaced));
    expect(await counted()).toBe(0);
  });

  it('MF-02 the code in another sign-in of the same browser', async () => {
    const next = await halfSession(portal, 'alice');
    expect((await press(code, next)).headers.location).toContain('notice=codeWrong');
  });

  it('SE-13 RC-08 after a new password, or for a user who was deactivated', async () => {
    await portal.sql`update portal_user set active = false where username = 'alice'`;
    await refused(press(code, cookies));
    await portal.sql`update portal_user set active = true where username = 'alice'`;
    const passwordHash = await hashPassword('Another-Harbour-43', null);
    await changeUser(portal.sql, 'alice', { passwordHash }, portal.deps.now());
    await refused(press(code, cookies));
  });

  it('from an address that the customer does not admit any more', async () => {
    await portal.sql`update customer set allowed_networks = '{192.0.2.0/24}' where key = 'app'`;
    await refused(press(code, cookies));
  });

  it('neither of the tokens nor the code of a press is stored', async () => {
    const rows = JSON.stringify(await portal.sql`select s::text from session s`);
    const texts = [...Object.values(after), cookies['vestibule-session'] ?? '', code].filter((text) => text !== '');
    for (const text of texts) {
      expect(rows).not.toContain(text);
      expect(rows).not.toContain(Buffer.from(text, 'base64url').toString('hex'));
    }
  });
});

describe('a wrong code pressed twice without script counts one', () => {
  it('MF-06 of an app, one after the other or at once, with the same page', async () => {
    const secret = await giveApp(portal, 'alice');
    const cookies = await halfSession(portal, 'alice');
    const [one = '', two = ''] = wrongCodes(portal, secret, 2);
    const first = await press(one, cookies);
    const second = await press(one, cookies, { at: another });
    expect(second.headers.location).toBe(first.headers.location);
    expect(await triesCounted(portal)).toEqual([1, 1, 1]);
    await Promise.all([0, 1, 2].map((n) => press(two, cookies, { at: n % 2 ? another : portal })));
    expect(await triesCounted(portal)).toEqual([2, 2, 2]);
  });

  it('MF-06 the fifth leads to the form both times, with the name', async () => {
    const secret = await giveApp(portal, 'alice');
    const cookies = await halfSession(portal, 'alice');
    const codes = wrongCodes(portal, secret, limits.codeTries);
    const answers: Answer[] = [];
    for (const code of [...codes, codes.at(-1) ?? '']) answers.push(await press(code, cookies));
    const [fifth, again] = answers.slice(-2) as [Answer, Answer];
    expect(fifth.headers.location).toContain('notice=tooManyCodes');
    expect([again.headers.location, cookiesOf(again)]).toEqual([fifth.headers.location, cookiesOf(fifth)]);
    expect(await triesCounted(portal)).toEqual([5, 5, 5]);
    expect(await portal.sql`select from audit_event where event = 'second-factor-ended'`).toHaveLength(1);
    expect((await press(codeNow(portal, secret), cookies)).headers.location).toContain('notice=tooManyCodes');
  });

  it('MF-06 by email, by a recovery code, and for an app of one’s own', async () => {
    const bob = await halfSession(portal, 'bob');
    const wrong = otherThan(await codeByMail(portal, 'bob'));
    await giveApp(portal, 'alice');
    const alice = await halfSession(portal, 'alice');
    const pat = cookiesOf(await portal.signIn('pat', testPassword));
    const own = otherThan(codeNow(portal, await secretToRegister(pat)));
    for (const [code, cookies] of [
      [wrong, bob],
      ['AAAA-AAAA-AAAA', alice],
      [own, pat],
    ] as const)
      expect((await press(code, cookies)).headers.location).toBe((await press(code, cookies)).headers.location);
    // The session of an app of one's own has no number of attempts; its account has.
    expect(await triesCounted(portal)).toEqual([2, 3, 3]);
  });

  it('MF-06 that tells of a wrong clock tells of it both times, and of no other code', async () => {
    const secret = await giveApp(portal, 'alice');
    const cookies = await halfSession(portal, 'alice');
    for (let n = 0; n < 2; n += 1)
      expect((await press(codeNow(portal, secret, 5), cookies)).headers.location).toContain('notice=codeWrong');
    const off = codeNow(portal, secret, 6);
    const first = await press(off, cookies);
    expect(first.headers.location).toContain('notice=clockWrong');
    expect((await press(off, cookies)).headers.location).toBe(first.headers.location);
    const other = codeNow(portal, secret, 7);
    for (let n = 0; n < 2; n += 1) expect((await press(other, cookies)).headers.location).toContain('notice=codeWrong');
  });

  it.each([
    ['later', async () => wait(limits.sameCodePress)],
    ['after another code', async (cookies: Browser, other: string) => void (await press(other, cookies))],
    ['after a script’s call', async (cookies: Browser, other: string) => void (await verify(portal, other, cookies))],
  ])('MF-06 and again %s counts again', async (_what, between) => {
    const secret = await giveApp(portal, 'alice');
    const cookies = await halfSession(portal, 'alice');
    const [code = '', other = ''] = wrongCodes(portal, secret, 2);
    await press(code, cookies);
    await between(cookies, other);
    const [before = 0] = await triesCounted(portal);
    await press(code, cookies);
    expect((await triesCounted(portal))[0]).toBe(before + 1);
  });

  it('MF-06 MF-07 a script’s calls count each, as does the same code in another half session', async () => {
    const secret = await giveApp(portal, 'alice');
    const cookies = await halfSession(portal, 'alice');
    const [code = ''] = wrongCodes(portal, secret, 1);
    for (let n = 0; n < 2; n += 1) await verify(portal, code, cookies);
    await press(code, cookies);
    await press(code, await halfSession(portal, 'alice'));
    expect(await triesCounted(portal)).toEqual([4, 4, 4]);
  });

  it('MF-02 is judged as of the first press: the next time step takes nothing for free', async () => {
    const secret = await giveApp(portal, 'alice');
    const cookies = await halfSession(portal, 'alice');
    wait(step - (portal.deps.now().getTime() % step) - 1000);
    const soon = codeNow(portal, secret, 2);
    expect((await press(soon, cookies)).headers.location).toContain('notice=codeWrong');
    wait(2000);
    expect((await press(soon, cookies)).headers.location).toContain('notice=codeWrong');
    expect(await triesCounted(portal)).toEqual([1, 1, 1]);
    wait(limits.sameCodePress);
    expect((await press(soon, cookies)).headers.location).toBe('/portal/x?y=1');
  });

  it('BF-11 an attempt for which the account waits is none, however often it is pressed', async () => {
    const secret = await giveApp(portal, 'alice');
    for (let n = 0; n < 2; n += 1) {
      const held = await halfSession(portal, 'alice');
      for (const code of wrongCodes(portal, secret, limits.codeTries)) await verify(portal, code, held);
    }
    const cookies = await halfSession(portal, 'alice');
    const code = codeNow(portal, secret);
    for (let n = 0; n < 2; n += 1)
      expect((await press(code, cookies)).headers.location).toContain('notice=tooManyAttempts');
    expect(await signedInAs(portal, cookies)).toBeNull();
  });
});
