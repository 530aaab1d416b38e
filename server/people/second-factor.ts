import type { Connection, Fragment } from '../database/database.ts';

export type SecondFactor = 'app' | 'email';

/** What a sign-in still needs after a password or a provider; `passkey`: one of the user's, in place of a first app. */
export type Asked = 'email' | 'app' | 'passkey';

/** What a half session waits for: a code, or the registration that comes before the first one. */
export type OpenFactor = { factor: SecondFactor; mustRegister: boolean };

/**
 * A condition: a code by email is something that the user with this id has proven before, or that one of their customers
 * requires, even while it is disabled: what is set up now counts there once it is enabled again.
 */
export function hasEmailToProve(sql: Connection, userId: Fragment): Fragment {
  return sql`(
    ${isEmailConfirmed(sql, userId)}
    or exists (
      select from membership own join customer asking on asking.id = own.customer_id
      where own.user_id = ${userId} and asking.two_factor = 'email'
    ))`;
}

/** A condition: an emailed code has reached the user with this id. */
export function isEmailConfirmed(sql: Connection, userId: Fragment): Fragment {
  return sql`exists (select from email_factor confirmed where confirmed.user_id = ${userId})`;
}
