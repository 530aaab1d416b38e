import { describe, expect, it } from 'vitest';
import { countRecoveryCodes } from '#server/storage/recovery-code.ts';
import { poolOfFile } from '#testing/pool-of-file.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { userId } from '#testing/reset-for-test.ts';
import {
  askForKey,
  type Browser,
  codeByMail,
  codeNow,
  giveApp,
  giveRecoveryCodes,
  halfSession,
  sessionId,
  startTwoFactorAfresh,
  step,
} from '#testing/two-factor-for-test.ts';
import { type Proof, type Prover, takeProof } from './take-proof.ts';

// Skips the counts, so that every post reaches the code itself: here all of them do, on two pools.
const portal = portalOfFile({ each: startTwoFactorAfresh });
const pool = poolOfFile(portal);

const rounds = 20;

/** Takes one code fifty times at once; returns the proofs obtained. */
async function taken(prover: Prover, code: string): Promise<Proof[]> {
  const proofs = await Promise.all(
    Array.from({ length: 50 }, (_, n) =>
      (n % 2 ? pool : portal.sql).begin((sql) => takeProof(portal.deps, sql, prover, code)),
    ),
  );
  return proofs.filter((proof) => proof !== null);
}

async function proverOf(username: string, cookies: Browser, more: Partial<Prover> = {}): Promise<Prover> {
  const user = { userId: await userId(portal, username), factor: 'app', mustRegister: false } as const;
  const browser = { deviceToken: cookies['vestibule-device'] ?? null };
  return { ...user, sessionId: await sessionId(portal, cookies), browser, ...more };
}

describe('RC-02 a code that fifty transactions take at once, twenty times over', { timeout: 60_000 }, () => {
  it('RC-02 of an app: one gets it', async () => {
    const prover = await proverOf('alice', {});
    const secret = await giveApp(portal, 'alice');
    for (let round = 0; round < rounds; round += 1) {
      portal.wait(step);
      expect(await taken(prover, codeNow(portal, secret))).toEqual(['app']);
    }
  });

  it('RC-02 by email: one gets it', async () => {
    for (let round = 0; round < rounds; round += 1) {
      portal.wait(600_000);
      const prover = await proverOf('bob', await halfSession(portal, 'bob'), { factor: 'email' });
      expect(await taken(prover, await codeByMail(portal, 'bob'))).toEqual(['email code']);
    }
  });

  it('RC-02 for recovery: one gets it, and the other codes still work', async () => {
    const prover = await proverOf('alice', {});
    let codes: string[] = [];
    for (let round = 0; round < rounds; round += 1) {
      if (round % 10 === 0) codes = await giveRecoveryCodes(portal, 'alice');
      expect(await taken(prover, codes[round % 10] ?? '')).toEqual(['recovery code']);
      expect(await countRecoveryCodes(portal.sql, prover.userId)).toBe(9 - (round % 10));
    }
  });

  it('RC-02 that confirms an app: one gets it, and there are ten recovery codes', async () => {
    const cookies = await halfSession(portal, 'alice');
    for (let round = 0; round < rounds; round += 1) {
      const { totpSecret } = (await askForKey(portal, cookies)).json<{ totpSecret: string }>();
      const prover = await proverOf('alice', cookies, { mustRegister: true });
      expect(await taken(prover, codeNow(portal, totpSecret))).toEqual(['app registered']);
      expect(await countRecoveryCodes(portal.sql, prover.userId)).toBe(10);
      await portal.sql`delete from totp`;
      await portal.sql`delete from shown_recovery_codes`;
    }
  });
});
