import { beforeEach, describe, expect, it } from 'vitest';
import { limits } from '#server/limits.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import {
  type Browser,
  codeByMail,
  codeNow,
  giveApp,
  halfSession,
  otherThan,
  registrationUrl,
  signInWithApp,
  startTwoFactorAfresh,
  step,
  verify,
  verifyByForm,
  wrongCodes,
} from '#testing/two-factor-for-test.ts';

let secret: string;
let cookies: Browser;
const portal = portalOfFile();
beforeEach(async () => {
  await startTwoFactorAfresh(portal);
  secret = await giveApp(portal, 'alice');
  cookies = await halfSession(portal, 'alice');
});

const furthest = limits.clockHelpWithin / step;

/** The answer to a code: `false`, with the clock offset in seconds if it has one. */
async function told(code: string, held = cookies): Promise<string | null> {
  const answer = await verify(portal, code, held);
  if (answer.body !== 'false') throw new Error(`${answer.statusCode} ${answer.body}`);
  return (answer.headers['vestibule-clock-offset'] as string | undefined) ?? null;
}

const miss = async () => await told(wrongCodes(portal, secret, 1)[0] as string);

describe('the clock of a phone', () => {
  it.each([
    [2, '60'],
    [-2, '-60'],
    [7, '210'],
    [-7, '-210'],
    [furthest, '600'],
    [-furthest, '-600'],
  ])(
    'that is %i steps off is reported at the second miss, in seconds, ahead or behind (MF-17)',
    async (steps, seconds) => {
      expect(await told(codeNow(portal, secret, steps))).toBeNull();
      expect(await told(codeNow(portal, secret, steps))).toBe(seconds);
    },
  );

  it('is reported once per half session, and the code stays refused and counted', async () => {
    await miss();
    expect(await told(codeNow(portal, secret, 5))).toBe('150');
    expect(await told(codeNow(portal, secret, 5))).toBeNull();
    expect(await told(codeNow(portal, secret, -5))).toBeNull();
    expect(await portal.sql`select code_tries, clock_told from session`).toEqual([{ code_tries: 4, clock_told: true }]);
    expect(await portal.sql`select last_step from totp`).toEqual([{ last_step: 0 }]);
    const other = await halfSession(portal, 'alice');
    expect([await told(codeNow(portal, secret, 5), other), await told(codeNow(portal, secret, 5), other)]).toEqual([
      null,
      '150',
    ]);
  });

  it('is reported once even when two codes are checked at once', async () => {
    await miss();
    const answers = await Promise.all(
      [5, 6, 7, 8].map((steps) => verify(portal, codeNow(portal, secret, steps), cookies)),
    );
    expect(answers.filter(({ headers }) => 'vestibule-clock-offset' in headers)).toHaveLength(1);
  });

  it('is not reported if it is right, more than ten minutes off, or no code of this app', async () => {
    await miss();
    for (const steps of [furthest + 1, -furthest - 1]) expect(await told(codeNow(portal, secret, steps))).toBeNull();
    expect(await told(codeNow(portal, await giveApp(portal, 'adam'), 5))).toBeNull();
    expect(await portal.sql`select clock_told from session`).toEqual([{ clock_told: false }]);
  });

  it('is not reported if the code was only used before', async () => {
    await signInWithApp(portal, 'alice', secret);
    await miss();
    for (const steps of [0, -1]) expect(await told(codeNow(portal, secret, steps))).toBeNull();
    expect(await portal.sql`select clock_told from session where stage = 'half'`).toEqual([{ clock_told: false }]);
  });

  it('is reported while an app is registered, too', async () => {
    const adam = await halfSession(portal, 'adam');
    const { totpSecret } = (await portal.send({ url: registrationUrl, cookies: adam })).json<{ totpSecret: string }>();
    expect(await told(codeNow(portal, totpSecret, -4), adam)).toBeNull();
    expect(await told(codeNow(portal, totpSecret, -4), adam)).toBe('-120');
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
    await miss();
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
