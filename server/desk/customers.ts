import type { CustomerRow } from '#contract/desk.ts';
import { expiryWarning } from '../single-sign-on/saml/provider-metadata.ts';
import { listSsoConnectionsOfCustomers } from '../single-sign-on/sso-connection.ts';
import { endsOf } from '../single-sign-on/sso-warnings.ts';
import type { DeskPageRoom } from './desk-page.ts';
import type { DeskVisit } from './desk-visit.ts';

/** More are found by the search only. */
const mostOfList = 500;

/** The customers that whoever is at the desk looks after. */
export const customers: DeskPageRoom<true> = {
  path: '/customers',
  find: async () => true,
  target: () => null,
  kept: [],
  acts: {},
  view: async (_deps, { desk }) => ({
    name: 'customers',
    customers: await listCustomerRows(desk, { text: '', limit: mostOfList }),
  }),
};

/** Those whose name or key has a text in it, by name. */
export async function listCustomerRows(
  { sql, scope, by }: DeskVisit,
  { text, limit }: { text: string; limit: number },
): Promise<CustomerRow[]> {
  const found = await sql<(Omit<CustomerRow, 'connections' | 'endsAt'> & { id: string })[]>`
    select id, key, name, active, (select count(*)::int from membership where customer_id = customer.id) as people
    from customer
    where (${scope}::uuid[] is null or id = any(${scope})) and position(lower(${text}) in lower(name || ' ' || key)) > 0
    order by lower(name), key limit ${limit}`;
  const ids = found.map(({ id }) => id);
  const connections = await listSsoConnectionsOfCustomers(sql, ids);
  const soon = by.now.getTime() + expiryWarning;
  return found.map(({ id, ...row }) => {
    const own = connections.filter(({ customerId }) => customerId === id);
    const ends = own.filter(({ active }) => active).flatMap(endsOf);
    const first = Math.min(...ends.map(({ endsAt }) => endsAt.getTime()));
    return { ...row, connections: own.length, endsAt: first <= soon ? new Date(first) : null };
  });
}
