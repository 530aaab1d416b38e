import type { Connection } from './connect.ts';

/** Whether nobody of a domain signs in by password. */
export async function isSsoRequired(sql: Connection, domain: string): Promise<boolean> {
  return (await sql`select ${ssoRequired(sql, sql`= ${domain}`)} as required`)[0]?.required === true;
}

/** A condition: one of the login names of the user whose id is in `userId` is of a domain that requires single sign-on. */
export function isSsoRequiredOf(sql: Connection, userId: ReturnType<Connection>) {
  return ssoRequired(
    sql,
    sql`in (
      select split_part(name.fold, '@', 2) from login_name name where name.user_id = ${userId} and name.fold like '%@%')`,
  );
}

function ssoRequired(sql: Connection, domainMatches: ReturnType<Connection>) {
  return sql`exists (
    select from sso_domain d join sso_connection s on s.id = d.connection_id join customer c on c.id = s.customer_id
    where s.required and s.active and c.active and d.domain ${domainMatches})`;
}
