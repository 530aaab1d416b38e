import { describe, expect, it, vi } from 'vitest';
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
  startTwoFactorAfresh,
  verdict,
  verify,
  wrongCodes,
} from '#test/support/two-factor-for-test.ts';
import { newToken, tokenHash } from '../crypto/token.ts';
import { limits } from '../limits.ts';

// The password takes no time here: the codes are to meet in the database.
vi.mock('@node-rs/argon2', async (original) => ({
  ...(await original<typeof import('@node-rs/argon2')>()),
  verify: async () => true,
}));

// Two instances on one database, each with its own pool; requests alternate between them.
const portal = portalOfFile({ each: startTwoFactorAfresh });
const other = otherInstanceOfFile(portal);
const portals = [portal, other];
const portalOf = (n: number) => portals[n % 2] as PortalForTest;

const posts = runsAll ? 100 : 30;

/** Posts codes at once, alternating between instances; returns the outcomes. */
async function posted(codes: string[], cookiesOfPost: (n: number) => Browser): Promise<unknown[]> {
  return await Promise.all(codes.map(async (code, n) => verdict(await verify(portalOf(n), code, cookiesOfPost(n)))));
}

/** Copies of a half session, as if the same password had been entered in that many browsers. */
async function copiesOf({ 'vestibule-session': token = '' }: Browser, count: number): Promise<Browser[]> {
  const tokens = Array.from({ length: count }, newToken);
  for (const copy of tokens)
    await other.pool`
      insert into session (token_hash, user_id, stage, waits_for, customer_ids, address, created_at,
        last_seen_at, ends_at)
      select ${tokenHash(copy)}, user_id, stage, waits_for, customer_ids, address, created_at, last_seen_at,
        ends_at from session where token_hash = ${tokenHash(token)}`;
  return tokens.map((copy) => ({ 'vestibule-session': copy }));
}

const countOf = (verdicts: unknown[], kind: unknown) =>
  verdicts.filter((verdict) => JSON.stringify(verdict) === JSON.stringify(kind)).length;

async function counted() {
  const [row] = await other.pool`
    select (select sum(code_tries)::int from session) as tries,
      (select failures from throttle where key like 'code:%') as failures,
      (select count(*)::int from audit_event where event = 'code-refused') as refused,
      (select count(*)::int from audit_event where event = 'second-factor-ended') as ended`;
  return { ...row };
}

describe('wrong codes at once, over two instances', () => {
  it('MF-07 in one half session five are checked, and each of them is counted once', async () => {
    const secret = await giveApp(portal, 'alice');
    const cookies = await halfSession(portal, 'alice');
    const verdicts = await posted(wrongCodes(portal, secret, posts), () => cookies);
    const five = limits.codeTries;
    expect([countOf(verdicts, false), countOf(verdicts, [401, 'tooManyCodes'])]).toEqual([five, posts - five]);
    expect(await counted()).toEqual({ tries: five, failures: five, refused: five, ended: 1 });
  });

  it('MF-07 BF-11 in twenty half sessions as many are checked and counted as the account allows', async () => {
    const secret = await giveApp(portal, 'alice');
    const { freeFailures } = limits.throttle.code;
    const browsers = await Promise.all(Array.from({ length: 20 }, (_, n) => halfSession(portalOf(n), 'alice')));
    const verdicts = await posted(wrongCodes(portal, secret, posts), (n) => browsers[n % 20] ?? {});
    expect(countOf(verdicts, false)).toBe(freeFailures);
    expect(countOf(verdicts, [429, null])).toBe(posts - freeFailures);
    expect(await counted()).toEqual({ tries: freeFailures, failures: freeFailures, refused: freeFailures, ended: 0 });
  });
});

describe('RC-02 many posts of one right code over two instances: one wins', () => {
  it.each(['in one half session', 'in as many half sessions'])('MF-03 RC-02 of an app, %s', async (where) => {
    const secret = await giveApp(portal, 'alice');
    const cookies = await halfSession(portal, 'alice');
    const browsers = where === 'in one half session' ? [] : await copiesOf(cookies, posts);
    const verdicts = await posted(Array(posts).fill(codeNow(portal, secret)), (n) => browsers[n] ?? cookies);
    expect(countOf(verdicts, true)).toBe(1);
    expect(await other.pool`select from session where stage = 'full'`).toHaveLength(1);
  });

  it('RC-02 EM-02 by email', async () => {
    const cookies = await halfSession(portal, 'bob');
    const verdicts = await posted(Array(posts).fill(await codeByMail(portal, 'bob')), () => cookies);
    expect(countOf(verdicts, true)).toBe(1);
    expect(await other.pool`select from session where stage = 'full'`).toHaveLength(1);
  });

  it('RC-02 for recovery, in as many half sessions, and one code is consumed', async () => {
    await giveApp(portal, 'alice');
    const [code = ''] = await giveRecoveryCodes(portal, 'alice');
    const browsers = await copiesOf(await halfSession(portal, 'alice'), posts);
    const verdicts = await posted(Array(posts).fill(code), (n) => browsers[n] as Browser);
    expect(countOf(verdicts, true)).toBe(1);
    expect(await other.pool`select from recovery_code where used_at is not null`).toHaveLength(1);
  });
});
