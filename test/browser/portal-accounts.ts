import { addCustomer } from '#server/accounts/customers.ts';
import { addUser, changeUser } from '#server/accounts/users.ts';
import { hashPassword } from '#server/crypto/password-hash.ts';
import type { NewCustomer } from '#server/people/customer.ts';
import type { MailInbox } from './mail-inbox.ts';
import { onDatabaseOf } from './portal-database.ts';
import type { PortalUnderTest } from './portal-under-test.ts';

// Does what `vestibule customer add` and `vestibule user add` do after parsing: hundreds of tests need users, and a
// process for each took longer than many of the tests. cli/ tests the commands themselves.

const by = () => ({ actor: 'os:alice', now: new Date() });

type CustomerOptions = Partial<Pick<NewCustomer, 'name' | 'allowedNetworks' | 'twoFactor' | 'passkeys'>>;

/** Adds a customer without networks and second factor unless told otherwise. */
export async function addCustomerTo(
  portal: PortalUnderTest,
  key: string,
  options: CustomerOptions = {},
): Promise<void> {
  const usual: NewCustomer = { key, name: key, allowedNetworks: [], twoFactor: 'off', newDeviceMail: false };
  const isAdded = await onDatabaseOf(portal, (sql) => addCustomer(sql, { ...usual, ...options }, by()));
  if (!isAdded) throw new Error(`There is a customer ${key}`);
}

export type UserOptions = { customers: readonly string[] };

const hashes = new Map<string, Promise<string>>();

/** The hash of a password, computed once in each worker: hundreds of users have the same. */
async function hashOf(password: string): Promise<string> {
  const hash = hashes.get(password) ?? hashPassword(password, null);
  hashes.set(password, hash);
  return await hash;
}

/** Adds a user with a password and an email address at acme.test. */
export async function addUserTo(
  portal: PortalUnderTest,
  username: string,
  password: string,
  { customers }: UserOptions,
): Promise<void> {
  const passwordHash = await hashOf(password);
  const user = { username, email: `${username}@acme.test`, passwordHash, language: null, customers };
  const added = await onDatabaseOf(portal, (sql) =>
    addUser(sql, { ...user, active: true, mayChangePassword: true }, by()),
  );
  if (added.kind !== 'added') throw new Error(`${username}: ${added.kind}`);
}

/** Invites a user as one who has no password yet; returns the link from the email. */
export async function invitationFor(
  { portal, inbox }: { portal: PortalUnderTest; inbox: MailInbox },
  { username, email }: { username: string; email: string },
): Promise<string> {
  await onDatabaseOf(portal, (sql) => changeUser(sql, username, { passwordHash: null }, by()));
  await portal.mustRun(['user', 'invite', username]);
  return (await inbox.take(email, 'invitation')).link;
}
