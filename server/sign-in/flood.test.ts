import { availableParallelism } from 'node:os';
import { describe, expect, it, vi } from 'vitest';
import { addAttackFixtures } from '#test/support/accounts-for-test.ts';
import { listeningPortal } from '#test/support/listening-portal.ts';
import { testAddress, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { verifyPassword } from '../crypto/password-hash.ts';
import { networksOf } from '../throttle/throttle-keys.ts';

/** A short queue fills quickly. */
vi.mock(import('#server/limits.ts'), async (original) => {
  const module = await original();
  return { ...module, limits: { ...module.limits, waitingHashes: 10 as never } };
});
const { limits: limitsOfProduct } = await vi.importActual<typeof import('#server/limits.ts')>('#server/limits.ts');

const mostHashesAtOnce = availableParallelism() + 1;

const portal = portalOfFile({ once: addAttackFixtures });

describe('a flood of sign-ins', () => {
  it('LM-08 a full queue answers 503 with Retry-After at once, pages stay fast, and it recovers', async () => {
    const before = process.memoryUsage().rss;
    const ends: [number, number][] = [];
    const started = performance.now();
    const flood = Array.from({ length: 120 }, async (_, index) => {
      const { statusCode, headers } = await portal.signIn(`nobody-${index}`, 'x', { from: `192.0.2.${index}` });
      ends.push([statusCode, performance.now() - started]);
      expect([303, 503]).toContain(statusCode);
      expect(headers['retry-after']).toBe(statusCode === 503 ? '5' : undefined);
    });
    const times: number[] = [];
    for (let count = 0; count < 20; count += 1) {
      const asked = performance.now();
      expect((await portal.send({ url: '/portal/login' })).statusCode).toBe(200);
      times.push(performance.now() - asked);
    }
    await Promise.all(flood);
    expect(ends.filter(([status]) => status === 503).length).toBeGreaterThan(20);
    expect(ends.filter(([status]) => status === 303).length).toBeGreaterThanOrEqual(10);
    // Half of them: a busy machine is late with some.
    expect(times.toSorted((a, b) => a - b)[10]).toBeLessThan(500);
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
    expect((await portal.signIn('bob', testPassword)).statusCode).toBe(303);
    expect(limitsOfProduct.waitingHashes).toBe(500);
  });

  it('a sign-in that finds the queue full is not counted as an attempt', async () => {
    await portal.sql`delete from throttle`;
    const waiting = Array.from({ length: mostHashesAtOnce + 10 }, () =>
      verifyPassword(null, 'x', networksOf(testAddress)),
    );
    expect((await portal.signIn('bob', 'wrong')).statusCode).toBe(503);
    expect(await portal.sql`select from throttle`).toHaveLength(0);
    await Promise.all(waiting);
    expect((await portal.signIn('bob', 'wrong')).statusCode).toBe(303);
  });

  it('LM-09 sign-ins whose clients disconnect are processed like any, and the next is served', async () => {
    const listening = await listeningPortal(portal);
    const form = 'username=nobody&password=x';
    const request =
      `POST /portal/performlogin HTTP/1.1\r\nHost: ${listening.host}\r\n` +
      `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${form.length}\r\n\r\n${form}`;
    for (let count = 0; count < 40; count += 1) {
      const socket = await listening.open();
      socket.write(request);
      setTimeout(() => socket.destroy(), 20);
    }
    await expect
      .poll(async () => (await portal.signIn('alice', testPassword)).headers.location, { timeout: 10_000 })
      .toBe('/portal/portal.html');
    const workedOff = await portal.sql`select from audit_event where reason = 'unknown-user' and address = '127.0.0.1'`;
    expect(workedOff.length).toBeGreaterThan(5);
    expect(portal.logs()).not.toContain('unexpected error');
  });
});
