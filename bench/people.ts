import { hashPassword } from '#server/crypto/password-hash.ts';
import type { Database } from '#server/database/database.ts';

export const userCount = 100;
export const password = 'Lantern-Harbour-42';
export const formHeaders = { 'content-type': 'application/x-www-form-urlencoded' };

export function formOf(username: string, typedPassword = password): string {
  return new URLSearchParams({ username, password: typedPassword }).toString();
}

/** Posts the sign-in form once. */
export async function postSignIn(origin: string, username: string, typedPassword = password): Promise<Response> {
  const body = formOf(username, typedPassword);
  return await fetch(`${origin}/portal/performlogin`, {
    method: 'POST',
    headers: formHeaders,
    body,
    redirect: 'manual',
  });
}

/** Adds `user-0` to `user-99` of one customer, and one user of each kind that must look alike. */
export async function addUsers(sql: Database): Promise<void> {
  const now = new Date();
  const passwordHash = await hashPassword(password, null);
  await sql`insert into customer (key, name, created_at) values ('acme', 'Acme', ${now})`;
  for (let index = 0; index < userCount; index += 1) await addUser(sql, { name: `user-${index}`, passwordHash });
  await addUser(sql, { name: 'inactive', passwordHash, active: false });
  await addUser(sql, { name: 'homeless', passwordHash, customer: 'none' });
  await addUser(sql, { name: 'sso-only', passwordHash: null });
  await addUser(sql, { name: 'managed', passwordHash: null, mayChangePassword: false });
}

type BenchUser = {
  name: string;
  passwordHash: string | null;
  active?: boolean;
  mayChangePassword?: boolean;
  customer?: string;
};

async function addUser(
  sql: Database,
  { name, passwordHash, active = true, mayChangePassword = true, customer = 'acme' }: BenchUser,
): Promise<void> {
  await sql`
    with made as (
      insert into portal_user (username, email, password_hash, active, may_change_password, created_at)
      values (${name}, ${`${name}@acme.test`}, ${passwordHash}, ${active}, ${mayChangePassword}, ${new Date()}) returning id
    ), named as (insert into login_name select ${name}, id from made)
    insert into membership select made.id, customer.id from made, customer where customer.key = ${customer}`;
}
