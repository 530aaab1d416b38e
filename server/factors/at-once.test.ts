import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { PortalForTest } from '#test/support/portal-for-test.ts';
import { otherInstanceOfFile, portalOfFile } from '#test/support/portal-of-file.ts';
import { runsAll } from '#test/support/runs-all.ts';
import {
  type Browser,
  codeByMail,
  codeNow,
  giveApp,
  giveRecoveryCodes,
  halfSession,
  registrationUrl,
  startTwoFactorAfresh,
  step,
  verdict,
  verify,
  wrongCodes,
} from '#test/support/two-factor-for-test.ts';
import { newToken, tokenHash } from '../crypto/token.ts';
import { limits, minute } from '../limits.ts';

// The password takes no time here: the codes are to meet in the database.
vi.mock('@node-rs/argon2', async (original) => ({
  ...(await original<typeof import('@node-rs/argon2')>()),
  verify: async () => true,
}));

// Two instances on one database, each with its own pool; requests alternate between them.
const portal = portalOfFile({ each: startTwoFactorAfresh });
const portals = [portal, otherInstanceOfFile(portal)] as const;

const rounds = runsAll ? 20 : 2;

function wait(time: number): void {
  for (const portal of portals) portal.wait(time);
}

/** Posts codes at once, alternating between instances; returns the outcomes. */
async function posted(codes: string[], cookiesOfPost: (n: number) => Browser): Promise<unknown[]> {
  const posts = codes.map(async (code, n) =>
    verdict(await verify(portals[n % 2] as PortalForTest, code, cookiesOfPost(n))),
  );
  return await Promise.all(posts);
}

/** Copies of a half session, as if the same password had been entered in that many browsers. */
async function copiesOf({ 'vestibule-session': token = '' }: Browser, count: number): Promise<Browser[]> {
  const tokens = Array.from({ length: count }, newToken);
  for (const copy of tokens)
    await portals[1].pool`
      insert into session (token_hash, user_id, stage, waits_for, customer_ids, address, created_at,
        last_seen_at, ends_at)
      select ${tokenHash(copy)}, user_id, stage, waits_for, customer_ids, address, created_at, last_seen_at,
        ends_at from session where token_hash = ${tokenHash(token)}`;
  return tokens.map((copy) => ({ 'vestibule-session': copy }));
}

const fifty = (code: string) => Array<string>(50).fill(code);
const wins = (verdicts: unknown[]) => verdicts.filter((verdict) => verdict === true).length;
const fullSessions = async () => (await portals[1].pool`select from session where stage = 'full'`).length;

const portalOf = (n: number) => portals[n % 2] as PortalForTest;
const countOf = (verdicts: unknown[], kind: unknown) =>
  verdicts.filter((verdict) => JSON.stringify(verdict) === JSON.stringify(kind)).length;

async function counted() {
  const [row] = await portals[1].pool`
    select (select sum(code_tries)::int from session) as tries,
      (select failures from throttle where key like 'code:%') as failures,
      (select count(*)::int from audit_event where event = 'code-refused') as refused,
      (select count(*)::int from audit_event where event = 'second-factor-ended') as ended`;
  return { ...row };
}

describe('wrong codes at once, over two instances', () => {
  let secret: string;
  beforeEach(async () => {
    secret = await giveApp(portals[0], 'alice');
  });

  it.each(runsAll ? [20, 100] : [20])(
    'MF-07 of %i in one half session five are checked, and each of them is counted once',
    async (posts) => {
      const cookies = await halfSession(portals[0], 'alice');
      const codes = wrongCodes(portals[0], secret, posts);
      const verdicts = await Promise.all(
        codes.map(async (code, n) => verdict(await verify(portalOf(n), code, cookies))),
      );
      expect(countOf(verdicts, false)).toBe(limits.codeTries);
      expect(countOf(verdicts, [401, 'tooManyCodes'])).toBe(posts - limits.codeTries);
      const five = limits.codeTries;
      expect(await counted()).toEqual({ tries: five, failures: five, refused: five, ended: 1 });
    },
  );

  it('MF-07 BF-11 of a hundred in twenty half sessions as many are checked and counted as the account allows', async () => {
    const { freeFailures } = limits.throttle.code;
    const browsers = await Promise.all(Array.from({ length: 20 }, (_, n) => halfSession(portalOf(n), 'alice')));
    const codes = wrongCodes(portals[0], secret, 100);
    const answers = await Promise.all(codes.map((code, n) => verify(portalOf(n), code, browsers[n % 20] ?? {})));
    const verdicts = answers.map(verdict);
    expect(countOf(verdicts, false)).toBe(freeFailures);
    expect(countOf(verdicts, [429, null])).toBe(100 - freeFailures);
    expect(await counted()).toEqual({ tries: freeFailures, failures: freeFailures, refused: freeFailures, ended: 0 });
    for (const { statusCode, headers } of answers) expect(statusCode === 429).toBe('retry-after' in headers);
  });

  it('MF-07 the right one among a hundred in one half session allows no more than five checks', async () => {
    for (let round = 0; round < (runsAll ? 5 : 2); round += 1) {
      const cookies = await halfSession(portals[0], 'alice');
      const codes = wrongCodes(portals[0], secret, 99).toSpliced(2, 0, codeNow(portals[0], secret, round % 2));
      const verdicts = await Promise.all(
        codes.map(async (code, n) => verdict(await verify(portalOf(n), code, cookies))),
      );
      expect(countOf(verdicts, false) + countOf(verdicts, true)).toBeLessThanOrEqual(limits.codeTries);
      await portals[1].pool`delete from throttle`;
    }
  });
});

it('MF-11 concurrent requests for a secret get the same one', async () => {
  const cookies = await halfSession(portals[0], 'adam');
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) => portalOf(n).send({ url: registrationUrl, cookies })),
  );
  const secrets = answers.map((answer) => answer.json<{ totpSecret: string }>().totpSecret);
  expect(new Set(secrets).size).toBe(1);
  expect(secrets[0]).toMatch(/^[A-Z2-7]{32}$/);
});

// Last, as its waits set the instances' clocks apart.
describe('RC-02 fifty posts of one right code over two instances', () => {
  it('MF-03 RC-02 of an app in one half session: one wins, and at most five others were checked', async () => {
    const secret = await giveApp(portals[0], 'alice');
    for (let round = 1; round <= rounds; round += 1) {
      wait(step);
      const cookies = await halfSession(portals[0], 'alice');
      const verdicts = await posted(fifty(codeNow(portals[0], secret)), () => cookies);
      expect(wins(verdicts), `${round}`).toBe(1);
      expect(verdicts.filter((verdict) => verdict === false).length).toBeLessThan(limits.codeTries);
      expect(await fullSessions()).toBe(round);
    }
  });

  it('MF-03 RC-02 of an app in fifty half sessions: one wins', async () => {
    const secret = await giveApp(portals[0], 'alice');
    for (let round = 1; round <= rounds; round += 1) {
      wait(step);
      const browsers = await copiesOf(await halfSession(portals[0], 'alice'), 50);
      const verdicts = await posted(fifty(codeNow(portals[0], secret)), (n) => browsers[n] as Browser);
      expect(wins(verdicts), `${round}`).toBe(1);
      expect(await fullSessions()).toBe(round);
      await portals[1].pool`delete from throttle`;
      await portals[1].pool`delete from session where stage = 'half'`;
    }
  });

  it('RC-02 EM-02 by email: one wins', async () => {
    for (let round = 1; round <= rounds; round += 1) {
      wait(10 * minute);
      const cookies = await halfSession(portals[0], 'bob');
      const code = await codeByMail(portals[0], 'bob');
      const verdicts = await posted(fifty(code), () => cookies);
      expect(wins(verdicts), `${round}`).toBe(1);
      expect(await fullSessions()).toBe(round);
    }
  });

  it('RC-02 for recovery, in fifty half sessions: one wins, and one code is consumed', async () => {
    await giveApp(portals[0], 'alice');
    const codes = await giveRecoveryCodes(portals[0], 'alice');
    for (const [round, code] of [...codes, ...codes].slice(0, rounds).entries()) {
      wait(10 * minute);
      if (round === codes.length) await portals[1].pool`update recovery_code set used_at = null`;
      const browsers = await copiesOf(await halfSession(portals[0], 'alice'), 50);
      const verdicts = await posted(fifty(code), (n) => browsers[n] as Browser);
      expect(wins(verdicts), `${round}`).toBe(1);
      expect(await portals[1].pool`select from recovery_code where used_at is not null`).toHaveLength(
        (round % codes.length) + 1,
      );
      await portals[1].pool`delete from throttle`;
      await portals[1].pool`delete from session where stage = 'half'`;
    }
  });
});
