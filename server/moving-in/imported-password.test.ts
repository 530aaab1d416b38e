import { beforeEach, describe, expect, it } from 'vitest';
import { addCustomer } from '#testing/accounts-for-test.ts';
import { emptyDatabase } from '#testing/empty-tables.ts';
import { importLines } from '#testing/import-for-test.ts';
import { hashesByOthers } from '#testing/password-hash-vectors.ts';
import { testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';

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

describe('a user imported with a password hash of', () => {
  it.each(Object.entries(hashesByOthers))('%s signs in, and the hash is replaced by ours', async (_what, hash) => {
    expect(await importMila(hash)).toEqual({ added: 1, unchanged: 0, refused: 0, lines: [] });
    const imported = await storedHash();
    expect(await signIn(`${testPassword}x`)).toBe(refused);
    expect(await signIn(testPassword.toLowerCase())).toBe(refused);
    expect(await signIn('')).not.toBe(inside);
    expect(await storedHash()).toBe(imported);
    expect(await signIn(testPassword)).toBe(inside);
    expect(await storedHash()).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await signIn(testPassword, 'mila@acme.test')).toBe(inside);
    expect(await signIn('another')).toBe(refused);
  });
});
