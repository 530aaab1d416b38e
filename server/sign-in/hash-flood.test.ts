import { availableParallelism } from 'node:os';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { addAttackFixtures } from '#test/support/accounts-for-test.ts';
import { testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { changedPage, changeTo, hiddenHash, linkFor, newPassword } from '#test/support/reset-for-test.ts';
import { hashesInQueue, verifyPassword } from '../crypto/password-hash.ts';

const places = 10;
const running = availableParallelism() + 1;

/** A short queue fills quickly; verification waits while the gate of a test is shut. */
const argon2 = vi.hoisted(() => ({ gate: Promise.resolve() }));
vi.mock(import('#server/limits.ts'), async (original) => {
  const module = await original();
  return { ...module, limits: { ...module.limits, waitingHashes: 10 as never } };
});
vi.mock('@node-rs/argon2', async (original) => {
  const real = await original<typeof import('@node-rs/argon2')>();
  const verify: typeof real.verify = async (hash, password) => {
    await argon2.gate;
    return await real.verify(hash, password);
  };
  return { ...real, verify };
});

const portal = portalOfFile({ once: addAttackFixtures });
let open = () => {};
beforeEach(async () => {
  await portal.sql`delete from throttle`;
  await expect.poll(hashesInQueue).toEqual({ running: 0, waiting: 0 });
});
afterEach(() => open());

function shut(): void {
  const { promise, resolve } = Promise.withResolvers<void>();
  argon2.gate = promise;
  open = resolve;
}

/** Fills the queue, each place for another network. */
const fill = () => Array.from({ length: running + places }, (_, n) => verifyPassword(null, 'x', `network ${n}`));

it('LM-08 a full queue answers 503 with Retry-After at once, pages still load, and it recovers', async () => {
  shut();
  const flood = Array.from({ length: 120 }, (_, n) => portal.signIn(`nobody-${n}`, 'x', { from: `192.0.2.${n}` }));
  const ends: unknown[] = [];
  for (const answer of flood)
    void answer.then(({ statusCode, headers }) => ends.push([statusCode, headers['retry-after']]));
  await expect.poll(() => ends).toEqual(Array(120 - running - places).fill([503, '5']));
  expect((await portal.send({ url: '/portal/login' })).statusCode).toBe(200);
  open();
  const done = (await Promise.all(flood)).filter(({ statusCode }) => statusCode === 303);
  expect(done).toHaveLength(running + places);
  expect((await portal.signIn('bob', testPassword)).statusCode).toBe(303);
  const { limits } = await vi.importActual<typeof import('#server/limits.ts')>('#server/limits.ts');
  expect(limits.waitingHashes).toBe(500);
});

it('LM-08 while it is full neither a sign-in nor a change is counted; the form comes back, and works a moment later', async () => {
  const token = await linkFor(portal, 'alice');
  shut();
  const waiting = fill();
  expect((await portal.signIn('bob', 'wrong')).statusCode).toBe(503);
  for (const hash of [token, 'x']) {
    const page = await changeTo(portal, hash, newPassword);
    expect([page.statusCode, page.headers['retry-after'], hiddenHash(page)]).toEqual([503, '5', hash]);
    const call = await changeTo(portal, hash, newPassword, { headers: { accept: 'application/json' } });
    expect([call.statusCode, call.json().status]).toEqual([503, 503]);
  }
  expect(await portal.sql`select from throttle`).toHaveLength(0);
  open();
  await Promise.all(waiting);
  expect((await portal.signIn('bob', 'wrong')).statusCode).toBe(303);
  expect((await changeTo(portal, token, newPassword)).headers.location).toBe(changedPage);
});

it.each([
  ['one address', () => '192.0.2.50'],
  ['the networks of one IPv6 /48', (n: number) => `2001:db8:77:${(n * 0x101).toString(16)}::1`],
])('LM-08 right passwords without end from %s keep nobody else out', async (_, from) => {
  shut();
  const flood = [];
  for (let n = 0; n < running + places / 2; n += 1) {
    flood.push(portal.signIn('bob', testPassword, { from: from(n) }));
    await expect.poll(() => hashesInQueue().running + hashesInQueue().waiting).toBe(n + 1);
  }
  expect((await portal.signIn('bob', testPassword, { from: from(99) })).statusCode).toBe(503);
  const other = portal.signIn('alice', testPassword, { from: '203.0.113.1' });
  await expect.poll(hashesInQueue).toEqual({ running, waiting: places / 2 + 1 });
  open();
  for (const answer of await Promise.all([other, ...flood])) expect(answer.statusCode).toBe(303);
});
