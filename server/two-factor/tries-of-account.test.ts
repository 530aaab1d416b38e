import { beforeEach, describe, expect, it } from 'vitest';
import { day, limits } from '#server/limits.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import {
  type Browser,
  codeNow,
  giveApp,
  halfSession,
  startTwoFactorAfresh,
  step,
  verdict,
  verify,
  wrongCodes,
} from '#testing/two-factor-for-test.ts';

let secret: string;
const portal = portalOfFile();
beforeEach(async () => {
  await startTwoFactorAfresh(portal);
  secret = await giveApp(portal, 'alice');
});

const { freeFailures, firstWait, longestWait, leakEvery } = limits.throttle.code;

/** The outcomes of codes in one half session, in turn. */
async function verdicts(codes: string[], cookies: Browser): Promise<unknown[]> {
  const all: unknown[] = [];
  for (const code of codes) all.push(verdict(await verify(portal, code, cookies)));
  return all;
}

const failures = async () =>
  (await portal.sql<{ failures: number }[]>`select failures from throttle where key like 'code:%'`)[0]?.failures ?? 0;

describe('BF-11 wrong codes over half sessions', () => {
  /** Enters wrong codes, five per half session, until one is not checked. */
  async function guessUntilRefused(): Promise<number> {
    for (let looked = 0; looked < 1000; looked += 1) {
      const cookies = await halfSession(portal, 'alice');
      for (const code of wrongCodes(portal, secret, limits.codeTries)) {
        const answer = await verify(portal, code, cookies);
        if (answer.statusCode === 429) {
          expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
          return looked * limits.codeTries;
        }
      }
    }
    throw new Error('nobody stops this');
  }

  it('BF-11 ten are free, however often the password is entered between them; then the account waits', async () => {
    expect(await guessUntilRefused()).toBe(freeFailures);
    const cookies = await halfSession(portal, 'alice');
    const right = await verify(portal, codeNow(portal, secret), cookies);
    expect([right.statusCode, right.headers['retry-after']]).toEqual([429, String(firstWait / 1000)]);
    expect(await failures()).toBe(freeFailures);
    expect(await portal.sql`select code_tries from session where code_tries not in (0, 5)`).toEqual([]);
    portal.wait(firstWait);
    expect(verdict(await verify(portal, codeNow(portal, secret), cookies))).toBe(true);
  });

  it('BF-11 each further one doubles the wait, so that a day of guessing is some 160 attempts', async () => {
    const cookies = await halfSession(portal, 'alice');
    const dayOver = portal.deps.now().getTime() + day;
    const [wrong] = wrongCodes(portal, secret, 1);
    const waits: number[] = [];
    let looked = 0;
    while (portal.deps.now().getTime() < dayOver) {
      // Equivalent to a new half session each time.
      await portal.sql`update session set code_tries = 0, ends_at = 'infinity'`;
      const answer = await verify(portal, wrong, cookies);
      if (answer.statusCode === 200) looked += 1;
      else waits.push(Number(answer.headers['retry-after']) * 1000);
      if (answer.statusCode !== 200) portal.wait(waits.at(-1) as number);
    }
    expect(waits.slice(0, 5)).toEqual([1, 2, 4, 8, 16].map((times) => times * firstWait));
    expect(Math.max(...waits)).toBeLessThanOrEqual(longestWait);
    expect(looked).toBeLessThanOrEqual(freeFailures + day / leakEvery + 10);
  });

  it('BF-11 the right code resets the count, a right password does not', async () => {
    await verdicts(wrongCodes(portal, secret, 4), await halfSession(portal, 'alice'));
    await halfSession(portal, 'alice');
    expect(await failures()).toBe(4);
    await verify(portal, codeNow(portal, secret), await halfSession(portal, 'alice'));
    expect(await failures()).toBe(0);
    portal.wait(2 * step);
    expect(await guessUntilRefused()).toBe(freeFailures);
  });

  it('BF-11 wrong codes of one account affect no other, nor its own password', async () => {
    await guessUntilRefused();
    const adams = await giveApp(portal, 'adam');
    expect(await verdicts([codeNow(portal, adams)], await halfSession(portal, 'adam'))).toEqual([true]);
    expect(await portal.sql`select key from throttle where key like 'account:%'`).toEqual([]);
    expect(await halfSession(portal, 'alice')).toBeTruthy();
  });
});
