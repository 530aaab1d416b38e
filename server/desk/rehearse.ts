import type { Rehearsal } from '#contract/desk.ts';
import { patientRead } from '../database/large-tables.ts';
import { day } from '../limits.ts';
import { admits, type Customer } from '../people/customer.ts';
import type { DeskVisit } from './desk-visit.ts';

/** How far back the desk counts sign-ins, in milliseconds. */
export const week = 7 * day;

const mostShown = 20;

/** What networks would have done to last week's sign-ins of a customer. Whoever has left it is called as the event called them. */
export async function rehearse(
  { sql, by, actor }: DeskVisit,
  { id, key }: Customer,
  networks: readonly string[],
): Promise<Rehearsal> {
  const [row] = await patientRead(
    sql,
    async (sql) =>
      await sql<Omit<Rehearsal, 'networks'>[]>`
      with sign_in as (
        select user_id, username, address, ${admits(sql, sql`${networks}::text[]::cidr[]`, sql`address`)} as is_admitted
        from audit_event
        where event = 'signed-in' and at >= ${new Date(by.now.getTime() - week)}
          and ${key} = any(string_to_array(customer_key, ', '))
      ),
      refused as (
        select user_id, max(username) as username, address, count(*) as count
        from sign_in where not is_admitted group by user_id, address order by count(*) desc, max(username) limit ${mostShown}
      )
      select (select count(*) from sign_in) as "signIns",
        (select count(*) from sign_in where not is_admitted) as "refusedSignIns",
        (
          select coalesce(jsonb_agg(jsonb_build_object('address', host(address), 'count', count, 'person',
            jsonb_build_object('id', refused.user_id, 'name', coalesce(u.name, u.username, refused.username))) order by count desc), '[]')
          from refused left join membership m on m.user_id = refused.user_id and m.customer_id = ${id}
            left join portal_user u on u.id = m.user_id
        ) as refused,
        exists (select from membership where user_id = ${actor.userId} and customer_id = ${id})
          and not ${admits(sql, sql`${networks}::text[]::cidr[]`, by.address ?? '')} as "isOwnAddressOut"`,
  );
  return { networks: networks.join(' '), ...(row as Omit<Rehearsal, 'networks'>) };
}
