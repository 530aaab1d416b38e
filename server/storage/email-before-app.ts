import type { Connection } from './database.ts';
import { isEmailConfirmed } from './email-code.ts';
import { speaksForLess } from './factor-scope.ts';
import type { Fragment } from './sso-domain.ts';

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

/**
 * A condition on a session `s`: it is to register an app, but waits for a code by email first. Otherwise somebody with
 * only the password could set up a factor that replaces such codes (docs/decisions/0014). It is derived from what is
 * stored now, so that a sign-in in progress follows each change. Sessions that may not register anyway wait for no
 * code.
 */
export function isEmailBeforeApp(sql: Connection, s: Fragment): Fragment {
  return sql`
    case when ${s}.stage = 'half' and ${s}.factor = 'app' and ${s}.must_register and ${s}.proven <> 'code'
      then ${hasEmailToProve(sql, sql`${s}.user_id`)} and not ${speaksForLess(sql, s)}
      else false end`;
}

/** What a session `s` waits for now, and whether the registration of an app comes next: columns of a statement. */
export function openFactorOf(sql: Connection, s: Fragment): Fragment {
  const isBefore = isEmailBeforeApp(sql, s);
  return sql`
    case when ${isBefore} then 'email' else ${s}.factor end as factor,
    ${mustRegisterNow(sql, s)} as "mustRegister", ${isBefore} as "thenApp"`;
}

/** A condition on a session `s`: what it waits for now is a registration, of an app or of the email. */
export function mustRegisterNow(sql: Connection, s: Fragment): Fragment {
  return sql`
    case when ${isEmailBeforeApp(sql, s)} then not ${isEmailConfirmed(sql, sql`${s}.user_id`)} else ${s}.must_register end`;
}
