import type { CustomerRow, PersonRow } from '#contract/desk.ts';
import { listAuditEvents } from '../audit/audit-event.ts';
import { referenceOfText } from '../audit/reference.ts';
import type { Deps } from '../deps.ts';
import { foldLoginName } from '../names/read-name.ts';
import { expiryWarning } from '../single-sign-on/saml/provider-metadata.ts';
import { listSsoConnectionsOfCustomers } from '../single-sign-on/sso-connection.ts';
import { endsOf } from '../single-sign-on/sso-warnings.ts';
import type { DeskPageRoom } from './desk-page.ts';
import type { DeskVisit } from './desk-visit.ts';
import { eventRowOf, eventsSeenBy } from './events.ts';
import { hasWords, isCalled, listPersonRows } from './person-rows.ts';

/** As long as the longest name; of more only this is looked for. */
const longestText = 200;
const mostFound = 20;
const mostRanked = 1000;
/** More customers are found by the search only. */
const mostOfList = 500;

/** The first page: whom or what to look for, and what was found. */
export const search: DeskPageRoom<true> = {
  path: '',
  find: async () => true,
  view: async (deps, { desk, query }) => {
    const text = (query.q ?? '').trim().slice(0, longestText);
    const reference = referenceOfText(text);
    const [references, people, customers] = await Promise.all([
      reference === null ? [] : listAuditEvents(desk.sql, { ...eventsSeenBy(desk), reference, limit: mostFound }),
      findPeople(deps, desk, text),
      text.length < 2 ? [] : listCustomerRows(desk, text, mostFound),
    ]);
    return { name: 'search', text, people, customers, references: references.map((event) => eventRowOf(desk, event)) };
  },
};

/** The customers that whoever is at the desk looks after. */
export const customers: DeskPageRoom<true> = {
  path: '/customers',
  find: async () => true,
  view: async (_deps, { desk }) => ({ name: 'customers', customers: await listCustomerRows(desk, '', mostOfList) }),
};

/** People by the beginnings of words of their names, first whoever is called exactly so. */
async function findPeople(deps: Deps, desk: DeskVisit, text: string): Promise<PersonRow[]> {
  const { sql, scope } = desk;
  const found = hasWords(desk, text);
  if (found === null) return [];
  const fold = foldLoginName(text);
  // A word may be everybody's: so many of them are put into order. An administrator's people are few.
  const some = sql`u.id in (
    select user_id from login_name where fold = ${fold} union all (select u.id from portal_user u where ${found} limit ${mostRanked}))`;
  const order = sql`${isCalled(desk, fold)} desc, u.username, u.id`;
  const where = scope === null ? some : found;
  return (await listPersonRows(deps, desk, { where, order, limit: mostFound })).people;
}

/** Those whose name or key has a text in it, by name. */
async function listCustomerRows({ sql, scope, by }: DeskVisit, text: string, limit: number): Promise<CustomerRow[]> {
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
