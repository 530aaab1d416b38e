import { availableParallelism } from 'node:os';
import { expect, it, vi } from 'vitest';
import { addAttackFixtures, addUser } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { hashesInQueue } from '../crypto/password-hash.ts';

const places = 10;
const running = availableParallelism() + 1;

/** A short queue fills quickly; verification waits until the test continues it, and is recorded. */
const argon2 = vi.hoisted(() => ({ gate: Promise.withResolvers<void>(), verified: [] as unknown[] }));
vi.mock(import('#server/limits.ts'), async (original) => {
  const module = await original();
  return { ...module, limits: { ...module.limits, waitingHashes: 10 as never } };
});
vi.mock('@node-rs/argon2', async (original) => {
  const real = await original<typeof import('@node-rs/argon2')>();
  const verify: typeof real.verify = async (hash, password) => {
    argon2.verified.push(password);
    await argon2.gate.promise;
    return await real.verify(hash, password);
  };
  return { ...real, verify };
});

const portal = portalOfFile({
  once: async (with_) => {
    await addAttackFixtures(with_);
    await addUser(with_, { username: 'inactive', active: false });
  },
});

it.each([
  ['one address', () => '192.0.2.50'],
  ['the networks of one IPv6 /48', (n: number) => `2001:db8:77:${(n * 0x101).toString(16)}::1`],
])(
  'LM-08 right passwords without end from %s keep nobody else from their turn, whatever their name',
  async (_, from) => {
    argon2.gate = Promise.withResolvers();
    argon2.verified = [];
    const statuses: number[] = [];
    for (let n = 0; n < running + places; n += 1) {
      void portal.signIn('bob', testPassword, { from: from(n) }).then(({ statusCode }) => statuses.push(statusCode));
      await expect.poll(() => hashesInQueue().running + hashesInQueue().waiting).toBe(n + 1);
    }
    expect((await portal.signIn('bob', testPassword, { from: from(99) })).statusCode).toBe(503);
    const others = [];
    const entries = [
      ['alice', testPassword],
      ['nobody', 'of no user'],
      ['alice', 'wrong'],
      ['inactive', 'of an inactive user'],
    ] as const;
    for (const [n, [name, password]] of entries.entries()) {
      others.push(portal.signIn(name, password, { from: `203.0.113.${n}` }));
      await expect.poll(() => statuses).toEqual(Array(n + 1).fill(503));
      expect(hashesInQueue()).toEqual({ running, waiting: places });
    }
    argon2.gate.resolve();
    const [right, ...wrong] = await Promise.all(others);
    expect([right?.statusCode, 'vestibule-session' in cookiesOf(right as never)]).toEqual([303, true]);
    expect(wrong.map(({ statusCode }) => statusCode)).toEqual([303, 303, 303]);
    await expect.poll(() => statuses.length).toBe(running + places);
    expect(argon2.verified.slice(running)).toEqual([
      testPassword,
      ...entries.map(([, password]) => password),
      ...Array(places - entries.length - 1).fill(testPassword),
    ]);
  },
);
