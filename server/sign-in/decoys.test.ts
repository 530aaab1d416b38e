import { randomBytes } from 'node:crypto';
import { hash as argon2Hash } from '@node-rs/argon2';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { renewPasswordDecoys } from '#server/accounts/renew-password-decoys.ts';
import { type ForeignHash, foreignHashText } from '#server/secrets/foreign-hash.ts';
import * as foreign from '#server/secrets/verify-foreign-hash.ts';
import { keepHouse } from '#server/upkeep/housekeeping.ts';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { emptyDatabase } from '#testing/empty-tables.ts';
import { importLines } from '#testing/import-for-test.ts';
import { hashesByOthers } from '#testing/password-hash-vectors.ts';
import { testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { storedHash } from '#testing/reset-for-test.ts';

vi.mock(import('#server/secrets/verify-foreign-hash.ts'), async (original) => {
  const real = await original();
  return { verifyForeignHash: vi.fn(real.verifyForeignHash) };
});

const portal = portalOfFile();
const verified = vi.mocked(foreign.verifyForeignHash);
beforeEach(async () => {
  await emptyDatabase(portal);
  await addCustomer(portal, 'acme');
});

const imported = (name: string, passwordHash: string) => ({ username: name, email: `${name}@acme.test`, passwordHash });

/** The kinds of foreign hashes that a refused sign-in verified. */
async function workOf(name: string, password = 'wrong'): Promise<string[]> {
  verified.mockClear();
  // By then earlier failures have expired.
  portal.wait(3_600_000);
  expect((await portal.signIn(name, password)).headers.location).toBe('/portal/loginfail/default');
  return verified.mock.calls.map(([hash]) =>
    'digest' in hash ? `${hash.kind} ${hash.digest} ${hash.rounds}` : hash.kind,
  );
}

describe('EN-02 imported hashes and unknown names', () => {
  const pbkdf2 = hashesByOthers['PBKDF2 SHA-256 by Django'];

  it('every unknown name costs an imported hash if every user has one, as does a user without a password', async () => {
    await importLines(portal, [imported('mila', pbkdf2), { username: 'sso', email: 'sso@acme.test' }]);
    const expected = ['pbkdf2 sha256 20000'];
    expect(await workOf('mila')).toEqual(expected);
    for (const name of ['nobody', 'noone', 'x@acme.test', 'sso']) expect(await workOf(name), name).toEqual(expected);
  });

  it('a throttled user costs the same as before', async () => {
    await importLines(portal, [imported('mila', pbkdf2)]);
    for (let guess = 0; guess < 6; guess += 1) await portal.signIn('mila', `guess ${guess}`);
    verified.mockClear();
    await portal.signIn('mila', testPassword);
    expect(verified.mock.calls).toEqual([[expect.objectContaining({ kind: 'pbkdf2', rounds: 20_000 }), testPassword]]);
    expect(foreignHashText(verified.mock.calls[0]?.[0] as ForeignHash)).not.toBe(await storedHash(portal, 'mila'));
    const [event] = await portal.sql`select reason from audit_event order by id desc limit 1`;
    expect(event?.reason).toBe('throttled-account');
  });

  it('names share the kinds as users do, each name always the same one', async () => {
    await importLines(portal, [
      imported('mila', pbkdf2),
      imported('nils', hashesByOthers['bcrypt 2b by passlib']),
      imported('olga', hashesByOthers['bcrypt_sha256 by Django']),
      imported('pia', hashesByOthers['argon2id by passlib']),
    ]);
    for (const username of ['q1', 'q2', 'q3', 'q4']) await addUser(portal, { username });
    await renewPasswordDecoys(portal.sql);
    const counts: Record<string, number> = {};
    for (let n = 0; n < 80; n += 1) {
      const [kind = 'ours'] = await workOf(`nobody${n}`);
      counts[kind] = (counts[kind] ?? 0) + 1;
    }
    // Half of the names ours, a quarter bcrypt, an eighth each of the others: four standard deviations allowed.
    for (const [kind, share] of [
      ['ours', 1 / 2],
      ['bcrypt', 1 / 4],
      ['argon2', 1 / 8],
      ['pbkdf2 sha256 20000', 1 / 8],
    ] as const)
      expect(Math.abs((counts[kind] ?? 0) - 80 * share), kind).toBeLessThan(4 * Math.sqrt(80 * share * (1 - share)));
    for (let n = 0; n < 5; n += 1) expect(await workOf(`nobody${n}`)).toEqual(await workOf(` NOBODY${n}`));
  });

  it('keys of different length are different kinds, as their work differs', async () => {
    const hash = (length: number) =>
      foreignHashText({
        ...{ kind: 'pbkdf2', digest: 'sha256', rounds: 1000, encoding: 'utf8' },
        ...{ salt: randomBytes(16), key: randomBytes(length) },
      });
    await importLines(portal, [imported('mila', hash(32)), imported('nils', hash(64)), imported('olga', hash(64))]);
    const rows = await portal.sql<{ decoy: string; share: number }[]>`
      select decoy, until_share as share from password_decoy order by place`;
    const keyLength = (text: string) => Buffer.from(text.split('$').at(-1) ?? '', 'base64').length;
    expect(rows.map(({ decoy, share }) => [keyLength(decoy), share])).toEqual([
      [32, 1 / 3],
      [64, 1],
    ]);
  });

  it('end once everyone has signed in', async () => {
    await importLines(portal, [imported('mila', pbkdf2)]);
    expect((await portal.signIn('mila', testPassword)).headers.location).toBe('/portal/portal.html');
    await keepHouse(portal.deps);
    expect(await portal.sql`select from password_decoy`).toHaveLength(0);
    expect(await workOf('nobody')).toEqual([]);
    expect(await workOf('mila')).toEqual([]);
  });

  it('no decoy is a hash that a user has, and none lets anybody in', async () => {
    const own = await argon2Hash(testPassword, { memoryCost: 8192, timeCost: 1 });
    await importLines(
      portal,
      Object.values({ ...hashesByOthers, own }).map((hash, n) => imported(`u${n}`, hash)),
    );
    const rows = await portal.sql<{ decoy: string }[]>`select decoy from password_decoy`;
    expect(rows.length).toBeGreaterThan(10);
    const [{ count } = { count: -1 }] = await portal.sql<{ count: number }[]>`
      select count(*) from portal_user where password_hash in (select decoy from password_decoy)`;
    expect(count).toBe(0);
    for (let n = 0; n < 20; n += 1) await workOf(`nobody${n}`, testPassword);
  });
});
