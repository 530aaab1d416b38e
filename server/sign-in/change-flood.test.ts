import { availableParallelism } from 'node:os';
import { expect, it, vi } from 'vitest';
import { testAddress } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { changedPage, changeTo, hiddenHash, linkFor, newPassword, startAfresh } from '#test/support/reset-for-test.ts';
import { verifyPassword } from '../crypto/password-hash.ts';
import { networksOf } from '../throttle/throttle-keys.ts';

/** A short queue fills quickly; verification waits until the test continues it. */
const argon2 = vi.hoisted(() => ({ gate: Promise.withResolvers<void>() }));
vi.mock(import('../limits.ts'), async (original) => {
  const module = await original();
  return { ...module, limits: { ...module.limits, waitingHashes: 2 as never } };
});
vi.mock('@node-rs/argon2', async (original) => {
  const real = await original<typeof import('@node-rs/argon2')>();
  const verify: typeof real.verify = async (...given) => {
    await argon2.gate.promise;
    return await real.verify(...given);
  };
  return { ...real, verify };
});

const portal = portalOfFile({ once: startAfresh });

it('LM-08 while too many passwords are queued a change is 503 with the form, counts nothing, and works a moment later', async () => {
  const token = await linkFor(portal, 'alice');
  const running = availableParallelism() + 1;
  const waiting = Array.from({ length: running + 2 }, () => verifyPassword(null, 'x', networksOf(testAddress)));
  const before = await portal.sql`select * from throttle order by key`;
  for (const hash of [token, 'x']) {
    const page = await changeTo(portal, hash, newPassword);
    expect([page.statusCode, page.headers['retry-after'], hiddenHash(page)]).toEqual([503, '5', hash]);
    const call = await changeTo(portal, hash, newPassword, { headers: { accept: 'application/json' } });
    expect([call.statusCode, call.json().status]).toEqual([503, 503]);
  }
  expect(await portal.sql`select * from throttle order by key`).toEqual(before);
  argon2.gate.resolve();
  await Promise.all(waiting);
  expect((await changeTo(portal, token, newPassword)).headers.location).toBe(changedPage);
});
