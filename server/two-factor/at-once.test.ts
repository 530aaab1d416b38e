import { beforeEach, describe, expect, it, vi } from 'vitest';
import { limits } from '#server/limits.ts';
import type { PortalForTest } from '#testing/portal-for-test.ts';
import { otherInstanceOfFile, portalOfFile } from '#testing/portal-of-file.ts';
import { runsAll } from '#testing/runs-all.ts';
import {
  codeNow,
  giveApp,
  halfSession,
  registrationUrl,
  startTwoFactorAfresh,
  verdict,
  verify,
  wrongCodes,
} from '#testing/two-factor-for-test.ts';

// The password takes no time here: the codes are to meet in the database.
vi.mock('@node-rs/argon2', async (original) => ({
  ...(await original<typeof import('@node-rs/argon2')>()),
  verify: async () => true,
}));

// Two instances on one database, each with its own pool; requests alternate between them.
const portal = portalOfFile({ each: startTwoFactorAfresh });
const portals = [portal, otherInstanceOfFile(portal)] as const;
let secret: string;
beforeEach(async () => {
  secret = await giveApp(portals[0], 'alice');
});

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
