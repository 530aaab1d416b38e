import { createHmac } from 'node:crypto';
import { beforeEach, expect, it } from 'vitest';
import { addCustomer } from '#test/support/accounts-for-test.ts';
import { importLines } from '#test/support/import-for-test.ts';
import { cookiesOf, testPassword, testPasswordHash } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { emptyDatabase } from '#test/support/rows-for-test.ts';
import { step, verify } from '#test/support/two-factor-for-test.ts';
import { readTotp } from './read-credentials.ts';

const portal = portalOfFile();
beforeEach(async () => {
  await emptyDatabase(portal);
  await addCustomer(portal, 'acme', { twoFactor: 'app' });
});

/** The secrets of RFC 6238, appendix B. */
const keys = {
  SHA1: Buffer.from('12345678901234567890'),
  SHA256: Buffer.from('12345678901234567890123456789012'),
  SHA512: Buffer.from('1234567890123456789012345678901234567890123456789012345678901234'),
};

function codeAt(algorithm: keyof typeof keys, time: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(time / step)));
  const mac = createHmac(algorithm, keys[algorithm]).update(counter).digest();
  const number = mac.readUInt32BE((mac.at(-1) as number) & 0xf) & 0x7fffffff;
  return String(number % 1_000_000).padStart(6, '0');
}

function base32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const letters = bits.match(/.{1,5}/g)?.map((five) => Number.parseInt(five.padEnd(5, '0'), 2)) ?? [];
  return letters.map((letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[letter]).join('');
}

it.each(['SHA1', 'SHA256', 'SHA512'] as const)(
  'an imported app with %s is asked for, and its codes let in once',
  async (algorithm) => {
    const record = { username: 'mila', email: 'mila@acme.test', passwordHash: await testPasswordHash() };
    const totp = { totpSecret: base32(keys[algorithm]), totpAlgorithm: algorithm };
    const importedAt = portal.deps.now().getTime();
    expect(await importLines(portal, [{ ...record, ...totp }])).toMatchObject({ added: 1 });
    const [row] = await portal.sql<{ sealed: Buffer }[]>`select sealed_secret as sealed from totp`;
    expect(row?.sealed.toString('latin1')).not.toContain(totp.totpSecret);
    const half = async () => {
      const answer = await portal.signIn('mila', testPassword);
      expect(answer.headers.location).toContain('/twoFactor');
      return cookiesOf(answer);
    };
    // The other system may have accepted the code of this moment.
    expect((await verify(portal, codeAt(algorithm, importedAt), await half())).body).not.toBe('true');
    portal.wait(2 * step);
    const now = portal.deps.now().getTime();
    const others = (['SHA1', 'SHA256', 'SHA512'] as const).filter((other) => other !== algorithm);
    for (const other of others) expect((await verify(portal, codeAt(other, now), await half())).body).not.toBe('true');
    expect((await verify(portal, codeAt(algorithm, now), await half())).body).toBe('true');
    expect((await verify(portal, codeAt(algorithm, now), await half())).body).not.toBe('true');
  },
);

it.each([
  ['eight digits', { digits: 8 }],
  ['a minute', { period: 60 }],
  ['MD5', { algorithm: 'MD5' }],
  ['80 bits', { secret: 'JBSWY3DPEHPK3PXP' }],
  ['no base32', { secret: 'not base32!' }],
])('an app that cannot be verified here is refused: %s', (_what, different) => {
  expect(readTotp({ secret: base32(keys.SHA1), ...different })).toMatchObject({
    kind: 'refused',
    problem: expect.stringMatching(/^totp: /),
  });
});
