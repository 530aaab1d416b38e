import { foldLoginName } from '#server/names/read-name.ts';
import { updateMemberships } from '#server/people/customer.ts';
import { type PortalForTest, testPasswordHash } from './portal-for-test.ts';

type UserForTest = {
  username: string;
  email?: string;
  name?: string;
  customers?: string[];
  /** Such as `acme:finance`. */
  groups?: string[];
  active?: boolean;
  mayChangePassword?: boolean;
  language?: string | null;
  /** Null for a user without a password. */
  passwordHash?: string | null;
  role?: 'operator' | 'support';
  /** Keys of customers that they look after at the desk. */
  administers?: string[];
};

const made = new Date('2026-01-01T00:00:00Z');

export async function addCustomer(
  { sql }: PortalForTest,
  key: string,
  { networks = [], twoFactor = 'off' }: { networks?: string[]; twoFactor?: 'off' | 'app' | 'email' } = {},
): Promise<void> {
  await sql`
    insert into customer (key, name, allowed_networks, two_factor, created_at)
    values (${key}, ${key}, ${networks}::text[]::cidr[], ${twoFactor}, ${made})`;
}

/** Adds a user whose password is testPassword; returns the id. */
export async function addUser({ sql }: PortalForTest, user: UserForTest): Promise<string> {
  const email = user.email ?? `${user.username}@acme.test`;
  const passwordHash = user.passwordHash === undefined ? await testPasswordHash() : user.passwordHash;
  const [row] = await sql<{ id: string }[]>`
    insert into portal_user (username, email, name, password_hash, active, may_change_password, language, created_at)
    values (${user.username}, ${email}, ${user.name ?? null}, ${passwordHash}, ${user.active ?? true}, ${user.mayChangePassword ?? true},
      ${user.language ?? null}, ${made})
    returning id`;
  const id = row?.id ?? '';
  const folds = new Set([user.username, email].map(foldLoginName));
  for (const fold of folds) await sql`insert into login_name values (${fold}, ${id})`;
  const { customers = ['acme'], groups = [], administers = [] } = user;
  await updateMemberships(sql, id, { customers, groups, administers });
  if (user.role) await sql`update portal_user set role = ${user.role} where id = ${id}`;
  return id;
}

/** The users of the attack list: a plain customer, one with networks, and users of every kind that must look alike. */
export async function addAttackFixtures(portal: PortalForTest): Promise<void> {
  await addCustomer(portal, 'acme');
  await addCustomer(portal, 'fenced', { networks: ['203.0.113.0/24', '2001:db8:a::/48'] });
  await addUser(portal, { username: 'alice' });
  await addUser(portal, { username: 'bob' });
  await addUser(portal, { username: 'carol', customers: ['fenced'] });
  await addUser(portal, { username: 'dave', active: false });
  await addUser(portal, { username: 'erin', customers: [] });
  await addUser(portal, { username: 'frank', mayChangePassword: false });
  await addUser(portal, { username: 'sso-only', passwordHash: null, mayChangePassword: false });
}

/** Who is signed in with these cookies, or null. */
export async function signedInAs(portal: PortalForTest, cookies: Record<string, string>): Promise<string | null> {
  const answer = await portal.send({ url: '/portal/session', cookies });
  return answer.statusCode === 200 ? answer.json<{ username: string }>().username : null;
}
