import { hash } from '@node-rs/argon2';
import { beforeAll, expect, it } from 'vitest';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';

const portal = portalOfFile();
beforeAll(async () => {
  await addCustomer(portal, 'acme');
});

async function storedHash(id: string): Promise<string> {
  const [row] = await portal.sql<{ hash: string }[]>`select password_hash as hash from portal_user where id = ${id}`;
  return row?.hash ?? '';
}

it('PW-14 a hash with outdated parameters still works, and the sign-in replaces it', async () => {
  const weak = await hash(testPassword, { memoryCost: 8192, timeCost: 1, parallelism: 1 });
  const id = await addUser(portal, { username: 'olga', passwordHash: weak });
  await portal.signIn('olga', 'wrong');
  expect(await storedHash(id)).toBe(weak);
  expect((await portal.signIn('olga', testPassword)).headers.location).toBe('/portal/portal.html');
  const renewed = await storedHash(id);
  expect(renewed).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  expect((await portal.signIn('olga', testPassword)).headers.location).toBe('/portal/portal.html');
  expect(await storedHash(id)).toBe(renewed);
  expect(await portal.sql`select from former_password`).toHaveLength(0);
});
