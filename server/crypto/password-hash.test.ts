import { hash as argon2Hash } from '@node-rs/argon2';
import { describe, expect, it } from 'vitest';
import { hashPassword, verifyPassword, type WorkQueue, workQueue } from './password-hash.ts';

describe('password hashes', () => {
  it('PW-15 are argon2id with the current parameters and a new salt each time', async () => {
    const [one, other] = await Promise.all([hashPassword('a password', null), hashPassword('a password', null)]);
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(one).not.toBe(other);
  });

  it('UN-09 PW-02 PW-11 PW-12 distinguish passwords by every code point, but not by Unicode composition', async () => {
    const composed = 'Zürich 🔑🏳️‍🌈 שלום e\u0301 ';
    const hash = await hashPassword(composed, null);
    expect(await verifyPassword(hash, composed.normalize('NFD'), null)).toBe(true);
    for (const other of [
      composed.trim(),
      ` ${composed}`,
      composed.replace('🔑', '🗝'),
      `${composed}\u200d`,
      composed.toLowerCase(),
    ])
      expect(await verifyPassword(hash, other, null), JSON.stringify(other)).toBe(false);
    const long = await hashPassword(`${'x'.repeat(71)}a`, null);
    expect(await verifyPassword(long, `${'x'.repeat(71)}b`, null)).toBe(false);
  });

  it('PW-12 that were imported with our parameters match the password as typed too', async () => {
    const typed = 'Zu\u0308rich-Harbour';
    const imported = await argon2Hash(typed, { memoryCost: 19_456, timeCost: 2, parallelism: 1 });
    expect(imported).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await verifyPassword(imported, typed, null)).toBe(true);
    expect(await verifyPassword(imported, `${typed}x`, null)).toBe(false);
  });

  it.each([
    '$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAB$ATM6lxpOwe4RD2AWwxw8fO9dBBE',
    '$scrypt$ln=16,r=1,p=1$GMMYI+Rcq/W+Vwrh3FvLWQ$7breWKJ93eCO0kTgReRW/oNGkpcn',
    '',
  ])('that cannot be verified match no password, and fail nobody: %j', async (hash) => {
    expect(await verifyPassword(hash, 'a password', null)).toBe(false);
  });

  it('a missing hash never matches and costs the same work', async () => {
    const stored = await hashPassword('a password', null);
    const least = { known: Number.POSITIVE_INFINITY, unknown: Number.POSITIVE_INFINITY };
    const ratio = () => least.unknown / least.known;
    const isSame = () => ratio() > 0.5 && ratio() < 2;
    // The minimum of several runs is the cost of the work; the rest is noise, of which a busy machine has more.
    for (let round = 0; round < 8 || (round < 80 && !isSame()); round += 1)
      for (const [kind, hash] of [
        ['known', stored],
        ['unknown', null],
      ] as const) {
        const started = performance.now();
        expect(await verifyPassword(hash, 'a wrong one', null)).toBe(false);
        least[kind] = Math.min(least[kind], performance.now() - started);
      }
    expect(isSame(), `ratio ${ratio()}`).toBe(true);
  });
});

/** Work that ends on command; the network of each piece is given. */
function works({ enqueue }: WorkQueue, networks: readonly string[]) {
  const started: number[] = [];
  const ends: (() => void)[] = [];
  const results = networks.map((network, index) =>
    enqueue(network, async () => {
      started.push(index);
      await new Promise<void>((resolve) => {
        ends[index] = resolve;
      });
      return index;
    }),
  );
  for (const result of results) result.catch(() => {});
  return { started, ends, results };
}

const nextLoop = () => new Promise((resolve) => setImmediate(resolve));

describe('the queue of heavy work', () => {
  it('LM-09 keeps a place until its work ends, even if nobody waits for it', async () => {
    const { started, ends, results } = works(workQueue(1, 10), ['a', 'a', 'a']);
    await Promise.race([results[0], nextLoop()]);
    await nextLoop();
    expect(started).toEqual([0]);
    ends[0]?.();
    await nextLoop();
    expect(started).toEqual([0, 1]);
  });

  it('releases the place of work that fails', async () => {
    const { enqueue } = workQueue(1, 100);
    const fail = () => enqueue('a', () => Promise.reject(new Error('failed')));
    const outcomes = await Promise.allSettled([fail(), fail(), enqueue('a', async () => 'done')]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
  });
});
