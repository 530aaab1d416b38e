import { describe, expect, it } from 'vitest';
import { signedInAs } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import {
  codeByMail,
  halfSession,
  otherThan,
  sendUrl,
  startTwoFactorAfresh,
  verdict,
  verify,
} from '#test/support/two-factor-for-test.ts';
import { MailNotSent } from '../deps.ts';
import { jobFirstWait } from '../jobs/job.ts';
import { limits } from '../limits.ts';
import { newEmailCode } from './email-code.ts';

const portal = portalOfFile({ each: startTwoFactorAfresh });

describe('a code by email', () => {
  it('EM-02 works once', async () => {
    const cookies = await halfSession(portal, 'bob');
    const code = await codeByMail(portal, 'bob');
    expect(verdict(await verify(portal, otherThan(code), cookies))).toBe(false);
    expect(verdict(await verify(portal, code, cookies))).toBe(true);
    expect(verdict(await verify(portal, code, cookies))).toEqual([401, 'signInExpired']);
    const again = await halfSession(portal, 'bob');
    expect(verdict(await verify(portal, code, again))).toBe(false);
    expect(await portal.sql`select from email_code`).toHaveLength(1);
  });

  it('EM-03 expires once another one was requested, delivered or not', async () => {
    const cookies = await halfSession(portal, 'bob');
    const first = await codeByMail(portal, 'bob');
    portal.wait(limits.emailCodeSendEvery);
    await portal.send({ method: 'POST', url: sendUrl, cookies });
    expect(verdict(await verify(portal, first, cookies))).toBe(false);
    const second = await codeByMail(portal, 'bob');
    expect(verdict(await verify(portal, second, cookies))).toBe(true);
  });

  it('EM-04 of one browser does not work in another, of the same user', async () => {
    const one = await halfSession(portal, 'bob');
    const ofOne = await codeByMail(portal, 'bob');
    const two = await halfSession(portal, 'bob');
    const ofTwo = await codeByMail(portal, 'bob');
    expect(verdict(await verify(portal, ofTwo, one))).toBe(false);
    expect(verdict(await verify(portal, ofOne, two))).toBe(false);
    expect([await signedInAs(portal, one), await signedInAs(portal, two)]).toEqual([null, null]);
    expect([verdict(await verify(portal, ofOne, one)), verdict(await verify(portal, ofTwo, two))]).toEqual([
      true,
      true,
    ]);
  });

  it('EM-05 of one user does not work for another', async () => {
    const [bob, beth] = [await halfSession(portal, 'bob'), await halfSession(portal, 'beth')];
    const [bobs, beths] = [await codeByMail(portal, 'bob'), await codeByMail(portal, 'beth')];
    expect(verdict(await verify(portal, beths, bob))).toBe(false);
    expect(verdict(await verify(portal, bobs, beth))).toBe(false);
    expect([verdict(await verify(portal, bobs, bob)), verdict(await verify(portal, beths, beth))]).toEqual([
      true,
      true,
    ]);
  });

  it('EM-05 copying its row to another half session opens nothing', async () => {
    const [bob, beth] = [await halfSession(portal, 'bob'), await halfSession(portal, 'beth')];
    const code = await codeByMail(portal, 'bob');
    await portal.sql`
      update email_code set code_hash = (select code_hash from email_code c join session s on s.id = c.session_id join portal_user u on u.id = s.user_id
        where u.username = 'bob')`;
    expect(verdict(await verify(portal, code, beth))).toBe(false);
    expect(verdict(await verify(portal, code, bob))).toBe(true);
  });

  it('is valid for ten minutes', async () => {
    for (const [late, verdictThen] of [
      [-1, true],
      [0, [401, 'signInExpired']],
    ] as const) {
      const cookies = await halfSession(portal, 'bob');
      const code = await codeByMail(portal, 'bob');
      portal.wait(limits.emailCode - 1000 + late);
      expect(verdict(await verify(portal, code, cookies))).toEqual(verdictThen);
    }
    const cookies = await halfSession(portal, 'bob');
    const code = await codeByMail(portal, 'bob');
    await portal.sql`update session set ends_at = 'infinity'`;
    portal.wait(limits.emailCode - 1000);
    expect(verdict(await verify(portal, code, cookies))).toBe(false);
  });

  it('EM-08 waits while the mail server is down, lets nobody in without it, and is sent once', async () => {
    portal.onSend(async () => {
      throw new MailNotSent('away', 'no mail server');
    });
    const cookies = await halfSession(portal, 'bob');
    portal.wait(1000);
    await portal.workOff();
    for (const code of ['000000', '', '      ']) await verify(portal, code, cookies);
    expect(await signedInAs(portal, cookies)).toBeNull();
    expect(portal.mails).toHaveLength(0);
    portal.onSend(async ({ id, recipient }, words) => void portal.mails.push({ id, recipient, ...words }));
    portal.wait(jobFirstWait);
    const code = await codeByMail(portal, 'bob');
    await portal.workOff();
    expect(portal.mails).toHaveLength(1);
    expect(verdict(await verify(portal, code, cookies))).toBe(true);
  });

  it('EM-08 is no longer sent once it is too late, or its half session has ended', async () => {
    portal.onSend(async () => {
      throw new MailNotSent('away', 'no mail server');
    });
    await halfSession(portal, 'bob');
    const left = await halfSession(portal, 'beth');
    portal.wait(1000);
    await portal.workOff();
    portal.onSend(async ({ id, recipient }, words) => void portal.mails.push({ id, recipient, ...words }));
    await portal.send({ method: 'POST', url: '/portal/logout', cookies: left });
    portal.wait(limits.emailCode);
    await portal.workOff();
    expect([portal.mails, await portal.sql`select from job`]).toEqual([[], []]);
  });

  it('is requested at the first sign-in as a registration, and afterwards as a code', async () => {
    const first = await portal.signIn('bob', testPassword);
    expect(first.headers.location).toMatch(/^\/portal\/twoFactorRegistration\?.*&codeSentViaEmail=true$/);
    await verify(portal, await codeByMail(portal, 'bob'), cookiesOf(first));
    const next = await portal.signIn('bob', testPassword);
    expect(next.headers.location).toMatch(/^\/portal\/twoFactor\?.*&codeSentViaEmail=true$/);
    expect(await portal.sql`select count(*)::int from email_factor`).toEqual([{ count: 1 }]);
  });
});

it('EM-06 a million codes are evenly distributed, including those with leading zeros', () => {
  const total = 1_000_000;
  const front = new Float64Array(1000);
  const back = new Float64Array(1000);
  const shape = /^\d{6}$/;
  for (let n = 0; n < total; n += 1) {
    const code = newEmailCode();
    if (!shape.test(code)) throw new Error(code);
    (front[Number(code.slice(0, 3))] as number) += 1;
    (back[Number(code.slice(3))] as number) += 1;
  }
  for (const counts of [front, back]) {
    // Pearson's chi-squared with 999 degrees of freedom: above 1300 once in a billion runs.
    const expected = total / counts.length;
    const chiSquared = counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
    expect(chiSquared).toBeGreaterThan(700);
    expect(chiSquared).toBeLessThan(1300);
  }
  const leadingZero = front.subarray(0, 100).reduce((sum, count) => sum + count, 0);
  expect(leadingZero / total).toBeCloseTo(0.1, 2);
});
