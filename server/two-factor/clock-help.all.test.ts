import { beforeEach, describe, expect, it } from 'vitest';
import { portalOfFile } from '#testing/portal-of-file.ts';
import {
  askForKey,
  type Browser,
  codeByMail,
  codeNow,
  giveApp,
  halfSession,
  otherThan,
  signInWithApp,
  startTwoFactorAfresh,
  step,
  verify,
  verifyByForm,
  wrongCodes,
} from '#testing/two-factor-for-test.ts';
import { clockHelpWithin } from './totp.ts';

let secret: string;
let cookies: Browser;
const portal = portalOfFile();
beforeEach(async () => {
  await startTwoFactorAfresh(portal);
  secret = await giveApp(portal, 'alice');
  cookies = await halfSession(portal, 'alice');
});

const furthest = clockHelpWithin / step;

/** The answer to a code: `false`, with the clock offset in seconds if it has one. */
async function told(code: string, held = cookies): Promise<string | null> {
  const answer = await verify(portal, code, held);
  if (answer.body !== 'false') throw new Error(`${answer.statusCode} ${answer.body}`);
  return (answer.headers['vestibule-clock-offset'] as string | undefined) ?? null;
}

const miss = async () => await told(wrongCodes(portal, secret, 1)[0] as string);

/** What the next code of a phone that is off by these steps is answered, a time step after the last one. */
async function shown(steps: number, { of = secret, held = cookies } = {}): Promise<string | null> {
  portal.wait(step);
  return await told(codeNow(portal, of, steps), held);
}

describe('the clock of a phone', () => {
  it.each([
    [2, '60'],
    [-2, '-60'],
    [7, '210'],
    [-7, '-210'],
    [furthest, '600'],
    [-furthest, '-600'],
  ])(
    'that is %i steps off is reported at its second code, in seconds, ahead or behind (MF-17)',
    async (steps, seconds) => {
      expect(await shown(steps)).toBeNull();
      expect(await shown(steps)).toBe(seconds);
    },
  );

  it('MF-17 one code of another time says nothing, however often it is entered, as it may be guessed and yet to come', async () => {
    const code = codeNow(portal, secret, 10);
    for (const _ of ['first', 'second', 'third']) expect(await told(code)).toBeNull();
    expect(await portal.sql`select clock_told from session`).toEqual([{ clock_told: false }]);
  });

  it('MF-17 nor do two codes whose offsets differ', async () => {
    expect([await shown(5), await shown(7), await shown(-7)]).toEqual([null, null, null]);
  });

  it('may be a step apart from one code to the next', async () => {
    expect([await shown(5), await miss(), await shown(6)]).toEqual([null, null, '180']);
  });

  it('is reported once per half session, and the code stays refused and counted', async () => {
    expect([await shown(5), await shown(5), await shown(5)]).toEqual([null, '150', null]);
    expect(await shown(-5)).toBeNull();
    expect(await portal.sql`select code_tries, clock_told from session`).toEqual([{ code_tries: 4, clock_told: true }]);
    expect(await portal.sql`select last_step from totp`).toEqual([{ last_step: 0 }]);
    const held = await halfSession(portal, 'alice');
    expect([await shown(5, { held }), await shown(5, { held })]).toEqual([null, '150']);
  });

  it('is reported once even when two codes are checked at once', async () => {
    await shown(5);
    portal.wait(step);
    const answers = await Promise.all([5, 6].map((steps) => verify(portal, codeNow(portal, secret, steps), cookies)));
    expect(answers.filter(({ headers }) => 'vestibule-clock-offset' in headers)).toHaveLength(1);
  });

  it('is not reported if it is right, more than ten minutes off, or no code of this app', async () => {
    for (const steps of [furthest + 1, furthest + 1, -furthest - 1]) expect(await shown(steps)).toBeNull();
    const of = await giveApp(portal, 'adam');
    expect([await shown(5, { of }), await shown(5, { of })]).toEqual([null, null]);
    expect(await portal.sql`select clock_told from session`).toEqual([{ clock_told: false }]);
  });

  it('is not reported if the code was only used before', async () => {
    await signInWithApp(portal, 'alice', secret);
    for (const steps of [0, -1, 0]) expect(await told(codeNow(portal, secret, steps))).toBeNull();
    expect(await portal.sql`select clock_told from session where stage = 'half'`).toEqual([{ clock_told: false }]);
  });

  it('is reported while an app is registered, too', async () => {
    const adam = await halfSession(portal, 'adam');
    const { totpSecret } = (await askForKey(portal, adam)).json<{ totpSecret: string }>();
    const phone = { of: totpSecret, held: adam };
    expect([await shown(-4, phone), await shown(-4, phone)]).toEqual([null, '-120']);
    expect(await portal.sql`select from totp`).toHaveLength(1);
  });

  it('does not apply to codes by email and recovery codes', async () => {
    const beth = await halfSession(portal, 'beth');
    const code = otherThan(await codeByMail(portal, 'beth'));
    expect([await told(code, beth), await told(code, beth), await told('AAAA-AAAA-AAAA', beth)]).toEqual([
      null,
      null,
      null,
    ]);
  });

  it('is reported on the form as well, with the destination kept', async () => {
    await shown(-3);
    portal.wait(step);
    const form = { code: codeNow(portal, secret, -3), redirectURL: '/portal/x' };
    const { headers } = await verifyByForm(portal, form, cookies, '?lang=de');
    expect(headers.location).toBe('/portal/twoFactor?redirectURL=%2Fportal%2Fx&notice=clockWrong&offset=-90&lang=de');
    // The second press of the same button shows the same page; another code is not told again.
    expect((await verifyByForm(portal, form, cookies, '?lang=de')).headers.location).toBe(headers.location);
    const other = { ...form, code: codeNow(portal, secret, -4) };
    expect((await verifyByForm(portal, other, cookies)).headers.location).toBe(
      '/portal/twoFactor?redirectURL=%2Fportal%2Fx&notice=codeWrong',
    );
  });
});
