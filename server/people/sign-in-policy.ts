import type { Connection, Fragment } from '../database/database.ts';

/** Whether a domain can't sign in by password. A disabled connection counts: an outage must not bring old passwords back. */
export async function isSsoRequired(sql: Connection, domain: string): Promise<boolean> {
  return (await sql`select ${vouchedFor(sql, sql`= ${domain}`, sql`s.required`)} as required`)[0]?.required === true;
}

/** A condition: one of the login names of the user with this id is in a domain that requires single sign-on. */
export function isSsoRequiredOf(sql: Connection, userId: Fragment): Fragment {
  return vouchedFor(sql, domainsOf(sql, userId), sql`s.required`);
}

/** A condition: the user with this id can sign in by a connection of one of their customers. */
export function isSsoPossibleFor(sql: Connection, userId: Fragment): Fragment {
  const isOwn = sql`exists (select from membership own where own.user_id = ${userId} and own.customer_id = c.id)
    and s.active and c.active`;
  return vouchedFor(sql, domainsOf(sql, userId), isOwn);
}

/** A condition: one of the login names of the user with this id is in one of the domains. */
export function isInDomains(sql: Connection, userId: Fragment, domains: readonly string[]): Fragment {
  return sql`exists (select from unnest(${domains as string[]}::text[]) domain where domain ${domainsOf(sql, userId)})`;
}

function domainsOf(sql: Connection, userId: Fragment): Fragment {
  return sql`in (
    select split_part(name.fold, '@', 2) from login_name name where name.user_id = ${userId} and name.fold like '%@%')`;
}

function vouchedFor(sql: Connection, domain: Fragment, condition: Fragment): Fragment {
  return sql`exists (
    select from sso_domain d join sso_connection s on s.id = d.connection_id join customer c on c.id = s.customer_id
    where d.domain ${domain} and ${condition})`;
}

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
