import { createHash, pbkdf2Sync } from 'node:crypto';
import { hash as argon2Hash } from '@node-rs/argon2';
import { generateSync } from 'otplib';
import { beforeEach, describe, expect, it } from 'vitest';
import { addCustomer } from '#test/support/accounts-for-test.ts';
import { hashesByOthers, importLines } from '#test/support/import-for-test.ts';
import { cookiesOf, testPassword, testPasswordHash } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { changedPage, changeTo, failedPage, linkFor, newPassword } from '#test/support/reset-for-test.ts';
import { emptyDatabase } from '#test/support/rows-for-test.ts';
import { runsAll } from '#test/support/runs-all.ts';
import { verify } from '#test/support/two-factor-for-test.ts';
import { limits } from '../limits.ts';
import { readPasswordHash, readTotp } from './read-credentials.ts';

const portal = portalOfFile();
beforeEach(async () => {
  await emptyDatabase(portal);
  await addCustomer(portal, 'acme');
});

const inside = '/portal/portal.html';
const refused = '/portal/loginfail/default';
const signIn = async (password: string, name = 'mila') => (await portal.signIn(name, password)).headers.location;

async function storedHash(): Promise<string | null> {
  const [row] = await portal.sql<{ hash: string | null }[]>`select password_hash as hash from portal_user`;
  return row?.hash ?? null;
}

async function importMila(passwordHash: string) {
  return await importLines(portal, [{ username: 'mila', email: 'mila@acme.test', passwordHash }]);
}

/** One of each algorithm, and every one of Django's forms. */
const inBrief = /argon2i by|2a by|SHA-1 by|scrypt by|Django|version 2/;
const forms = Object.entries(hashesByOthers).filter(([what]) => runsAll || inBrief.test(what));

async function signsInAndHasOurHash(): Promise<void> {
  const imported = await storedHash();
  for (const wrong of [`${testPassword}x`, testPassword.toLowerCase()]) expect(await signIn(wrong)).toBe(refused);
  expect(await signIn('')).not.toBe(inside);
  expect(await storedHash()).toBe(imported);
  expect(await signIn(testPassword)).toBe(inside);
  expect(await storedHash()).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  expect(await signIn(testPassword, 'mila@acme.test')).toBe(inside);
  expect(await signIn('another')).toBe(refused);
}

describe('a user imported with a password hash of', () => {
  it.each(forms)('%s signs in, and the hash is replaced by ours', async (_what, hash) => {
    expect(await importMila(hash)).toEqual({ added: 1, unchanged: 0, refused: [] });
    await signsInAndHasOurHash();
  });

  it.each(['pbkdf2-sha256', 'argon2'])(
    'Keycloak, %s, signs in, and the hash is replaced by ours',
    async (algorithm) => {
      const salt = Buffer.from('0123456789abcdef');
      const argon2 = await argon2Hash(testPassword, { memoryCost: 7168, timeCost: 5, parallelism: 1, salt });
      const parameters = { memory: ['7168'], type: ['id'], version: ['1.3'], parallelism: ['1'] };
      const isArgon2 = algorithm === 'argon2';
      const [rounds, key] = isArgon2
        ? [5, Buffer.from(argon2.split('$').at(-1) ?? '', 'base64')]
        : [2750, pbkdf2Sync(testPassword, salt, 2750, 64, 'sha256')];
      const data = { hashIterations: rounds, algorithm, additionalParameters: isArgon2 ? parameters : {} };
      const secret = { value: key.toString('base64'), salt: salt.toString('base64'), additionalParameters: {} };
      const password = { type: 'password', credentialData: JSON.stringify(data), secretData: JSON.stringify(secret) };
      const user = {
        ...{ id: 'b1a4', username: 'mila', email: 'mila@acme.test', emailVerified: true, enabled: true },
        ...{ createdTimestamp: 1_600_000_000_000, attributes: { locale: ['de'] }, credentials: [password] },
      };
      expect(await importLines(portal, [user], { from: 'keycloak' })).toMatchObject({ added: 1 });
      await signsInAndHasOurHash();
      expect(await portal.sql`select language from portal_user`).toEqual([{ language: 'de' }]);
    },
  );
});

describe('an imported hash', () => {
  const weak = hashesByOthers['PBKDF2 SHA-256 by Django'];

  it('BF-02 is guessed at no faster: the account waits, and the right password too', async () => {
    await importMila(weak);
    for (let guess = 0; guess < limits.throttle.account.freeFailures; guess += 1)
      expect(await signIn(`guess ${guess}`)).toBe(refused);
    const before = await storedHash();
    expect(await signIn(testPassword)).toBe(refused);
    expect(await storedHash()).toBe(before);
    const [event] = await portal.sql`select reason from audit_event order by id desc limit 1`;
    expect(event?.reason).toBe('throttled-account');
    portal.wait(limits.throttle.account.firstWait);
    expect(await signIn(testPassword)).toBe(inside);
  });

  it('PW-08 counts among the last ten passwords, before and after it is replaced', async () => {
    await importMila(weak);
    const landing = async (password: string) =>
      (await changeTo(portal, await linkFor(portal, 'mila'), password)).headers.location;
    expect(await landing(testPassword)).toBe(failedPage(11));
    expect(await landing(newPassword)).toBe(changedPage);
    expect(await portal.sql`select password_hash from former_password`).toHaveLength(1);
    expect(await landing(testPassword)).toBe(failedPage(11));
    expect(await signIn(testPassword)).toBe(refused);
  });

  it.each([
    ['bcrypt at cost 15', '$2b$15$gn1I1S07AUJjU40NRfiPJeYTKYGVbWJwCEZTjJ2ULA.y6MLtgWADi'],
    ['PBKDF2 with ten million rounds', weak.replace('$20000$', '$10000000$')],
    ['argon2 with 1 GiB', '$argon2id$v=19$m=1048576,t=1,p=4$zRmD0Po/x7iXknLunZOS8g$dvJu+lvM+GNXrS0+WM/n3Q'],
    ['argon2 with 100 passes', '$argon2id$v=19$m=65536,t=100,p=4$zRmD0Po/x7iXknLunZOS8g$dvJu+lvM+GNXrS0+WM/n3Q'],
  ])('that would occupy a core for too long is refused: %s', async (_what, hash) => {
    const { refused, added } = await importMila(hash);
    expect(added).toBe(0);
    expect(refused).toMatchObject([{ problem: expect.stringMatching(/^passwordHash: .*would take too long/) }]);
  });

  it.each([
    ['MD5 of Django', `md5$salt$${createHash('md5').update('x').digest('hex')}`, 'form of md5'],
    ['plain text', testPassword, 'not known'],
    ['plain text with a sign', 'Horse$Battery9', 'not known'],
    ['bcrypt 2x', '$2x$06$gn1I1S07AUJjU40NRfiPJeYTKYGVbWJwCEZTjJ2ULA.y6MLtgWADi', 'faulty'],
    ['a cut bcrypt', '$2b$06$gn1I1S07AUJjU40NRfiPJe', 'not known'],
    ['argon2d', '$argon2d$v=19$m=8192,t=3,p=4$zRmD0Po/x7iXknLunZOS8g$dvJu+lvM+GNXrS0+WM/n3Q', 'form of argon2d'],
    ['argon2 with m=0064', '$argon2id$v=19$m=0064,t=1,p=1$c2FsdHNhbHRzYWx0$fsJQaSSFN1gmcMJI8yMyYw', 'of argon2id'],
    [
      'scrypt of Kratos',
      '$scrypt$ln=16384,r=8,p=1$Nkj/0rvKMApEKlhWJgpxKw$XK5znvWEjr4+A1ktKuxPbAqbgEHAxgxmZy0HDU9XZGk',
      'scrypt',
    ],
    [
      'scrypt with r = 1',
      '$scrypt$ln=16,r=1,p=1$GMMYI+Rcq/W+Vwrh3FvLWQ$7breWKJ93eCO0kTgReRW/oNGkpcn',
      'form of scrypt',
    ],
    [
      'scrypt of Werkzeug',
      'scrypt:32768:8:1$Ab3dEf7hIj9kLm2n$26e7cd9df65328a05962b241e7a6deddce41109477fdf6a0',
      'form of scrypt',
    ],
    ['SHA-512 crypt', '{CRYPT}$6$abcdefgh$VgDxjJ5kqj3M8Oq9Yk4N8Me/acHCVHkC16YRGVVza/5SQuX3Y', 'form of SHA-512 crypt'],
    ['SSHA', '{SSHA}0c0blFTXXNuAMHECS4uxrj3ZieMoWImr', 'form of SSHA'],
  ])('that cannot be verified is refused by its name, without quoting it: %s', async (_what, hash, words) => {
    const { refused, added } = await importMila(hash);
    expect([added, refused.length]).toEqual([0, 1]);
    expect(refused[0]?.problem).toMatch(new RegExp(`^passwordHash: .*${words}`));
    expect(refused[0]?.problem).not.toContain(hash.slice(-10));
  });

  it('may be padded, and named before it names itself', () => {
    const [bcrypt, argon2] = [hashesByOthers['bcrypt 2y by passlib'], hashesByOthers['argon2id by passlib']];
    for (const written of ['{bcrypt}', '{BCRYPT}', '{CRYPT}', '{BLF-CRYPT}'].map((prefix) => prefix + bcrypt))
      expect(readPasswordHash(` ${written}\n`)).toEqual({ kind: 'ok', value: bcrypt });
    for (const written of [`{ARGON2}${argon2}`, `${argon2}==`, argon2.replace('8g$', '8g==$')])
      expect(readPasswordHash(written)).toEqual({ kind: 'ok', value: argon2 });
  });
});

describe('an imported app', () => {
  const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
  const algorithms = ['sha1', 'sha256', 'sha512'] as const;
  const codeOf = (algorithm: (typeof algorithms)[number], time = portal.deps.now().getTime()) =>
    generateSync({ secret, algorithm, epoch: Math.floor(time / 1000) });

  it.each(algorithms)('with %s is asked for, and its codes let in once', async (algorithm) => {
    await portal.sql`update customer set two_factor = 'app'`;
    const record = { username: 'mila', email: 'mila@acme.test', passwordHash: await testPasswordHash() };
    const app = { totpSecret: secret, totpAlgorithm: algorithm.toUpperCase() };
    expect(await importLines(portal, [{ ...record, ...app, customers: ['acme'] }])).toMatchObject({ added: 1 });
    const [row] = await portal.sql<{ sealed: Buffer }[]>`select sealed_secret as sealed from totp`;
    expect(row?.sealed.toString('latin1')).not.toContain(secret);
    const tryCode = async (code: string) =>
      (await verify(portal, code, cookiesOf(await portal.signIn('mila', testPassword)))).body;
    for (const other of algorithms) if (other !== algorithm) expect(await tryCode(codeOf(other))).not.toBe('true');
    expect([await tryCode(codeOf(algorithm)), await tryCode(codeOf(algorithm))]).toEqual(['true', 'false']);
  });

  it.each([
    ['eight digits', { digits: 8 }],
    ['a minute', { period: 60 }],
    ['MD5', { algorithm: 'MD5' }],
    ['80 bits', { secret: 'JBSWY3DPEHPK3PXP' }],
    ['no base32', { secret: 'not base32!' }],
  ])('that cannot be verified here is refused: %s', (_what, different) => {
    const problem = expect.stringMatching(/^totp: /);
    expect(readTotp({ secret, ...different })).toMatchObject({ kind: 'refused', problem });
  });
});
