import type { Config } from '../config/config.ts';
import { findCustomer } from '../storage/customer.ts';
import type { Connection } from '../storage/database.ts';
import type { User } from '../storage/portal-user.ts';
import type { NewPasswordRules } from './new-password-problem.ts';
import { ownNames } from './own-names.ts';

/** The rules for a user's next password, given the keys of their customers. */
export async function newPasswordRules(
  sql: Connection,
  { passwordPolicy, brand }: Pick<Config, 'passwordPolicy' | 'brand'>,
  user: Pick<User, 'username' | 'email' | 'customers'>,
): Promise<NewPasswordRules> {
  const customers = await Promise.all(user.customers.map((key) => findCustomer(sql, key)));
  const named = { ...user, customers: customers.filter((customer) => customer !== null) };
  return { policy: passwordPolicy, names: ownNames(named, brand.branding.name) };
}
