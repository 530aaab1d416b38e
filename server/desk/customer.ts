import { accountFields } from '#contract/account.ts';
import { type DeskViewOf, deskActs, type PersonState, type Rehearsal } from '#contract/desk.ts';
import { newestActOn } from '../audit/audit-event.ts';
import type { Deps } from '../deps.ts';
import { day } from '../limits.ts';
import { readShortName } from '../names/read-name.ts';
import { admits, type Customer, findCustomer } from '../people/customer.ts';
import { checkConnection } from '../single-sign-on/check-connection.ts';
import { expiryWarning } from '../single-sign-on/saml/provider-metadata.ts';
import { listSsoConnectionsOfCustomers } from '../single-sign-on/sso-connection.ts';
import { endsOf } from '../single-sign-on/sso-warnings.ts';
import { customerActs, policiesOf, typedNetworks } from './customer-acts.ts';
import type { Asked, DeskPageRoom, Fields } from './desk-page.ts';
import { type DeskVisit, largeRead } from './desk-visit.ts';
import { mayAct } from './may-act.ts';
import { hasWords, listPersonRows } from './person-rows.ts';

const peopleShown = 50;

/** How far back the desk counts sign-ins, in milliseconds. */
const week = 7 * day;

/** A customer: their people, networks, policies and connections. */
export const customer: DeskPageRoom<Customer> = {
  path: '/customers/:key',
  find: customerFor('seeCustomer'),
  target: ({ key }) => ({ kind: 'customer', key }),
  acts: customerActs,
  view: async (deps, asked, found, fields) => {
    const { desk } = asked;
    const { key, name: displayName, active, allowedNetworks } = found;
    return {
      name: 'customer',
      customerKey: key,
      displayName,
      active,
      policies: policiesOf(found, desk),
      acts: deskActs.filter((act) => mayAct(desk.actor, act, { kind: 'customer', key })),
      ...(await peopleOf(deps, asked, found)),
      networks: allowedNetworks,
      rehearsal: fields.networks === undefined ? null : await rehearse(desk, found, typedNetworks(fields)),
      connections: await connectionsOf(deps, desk, found, fields),
      seen: await newestActOn(desk.sql, { customerKey: key }),
    };
  },
};

/** Finds the customer of an address, if they are there for whoever asks and may do this. */
export function customerFor(act: 'seeCustomer' | 'import') {
  return async (_deps: Deps, { desk, params: { key = '' } }: Asked): Promise<Customer | null> => {
    if (readShortName(key).kind === 'refused') return null;
    return mayAct(desk.actor, act, { kind: 'customer', key }) ? await findCustomer(desk.sql, key) : null;
  };
}

type View = DeskViewOf<'customer'>;

/** By what the filter of the people is called; any other shows all. */
const statesOf = new Map<string, PersonState['word'][]>([
  ['cannotSignIn', ['waits', 'noCustomer', 'inactive']],
  ['noFactor', ['noFactor']],
  ['invited', ['invited']],
  ['inactive', ['inactive']],
]);

async function peopleOf(deps: Deps, { desk, query }: Asked, { id }: Customer) {
  const { sql } = desk;
  const { person = '', state = '' } = query;
  const from = /^\d{1,7}$/.test(query.from ?? '') ? Number(query.from) : 0;
  const isOf = sql`exists (select from membership own where own.user_id = u.id and own.customer_id = ${id})`;
  const words = hasWords(desk, person);
  const where = words ? sql`${isOf} and ${words}` : isOf;
  const shown = { where, states: statesOf.get(state), order: sql`u.username, u.id`, limit: peopleShown, offset: from };
  return { ...(await listPersonRows(deps, desk, shown)), filter: { person, state, from } };
}

async function connectionsOf(deps: Deps, desk: DeskVisit, { id }: Customer, fields: Fields) {
  const { sql, by } = desk;
  const connections = await listSsoConnectionsOfCustomers(sql, [id]);
  if (connections.length === 0) return [];
  const counts = await largeRead(
    desk,
    (sql) => sql<{ connection: string; count: number }[]>`
      select connection, count(*) from audit_event
      where event = 'signed-in' and at >= ${new Date(by.now.getTime() - week)}
        and connection = any(${connections.map(({ key }) => key)}) group by connection`,
  );
  const asked = fields[accountFields.action] === 'testConnection' ? fields.connection : null;
  const shown = connections.map(async (connection): Promise<View['connections'][number]> => {
    const { key, name, protocol, active } = connection;
    const ends = endsOf(connection).map(({ what, endsAt }) => {
      const left = endsAt.getTime() - by.now.getTime();
      const tone = left < 0 ? 'bad' : left <= expiryWarning ? 'warn' : null;
      return { what: what === 'certificate' ? what : 'secret', endsAt, tone } as const;
    });
    const signIns = counts.find(({ connection }) => connection === key)?.count ?? 0;
    const tested = key === asked ? await checkConnection({ ...deps, sql }, connection) : null;
    return { key, name, protocol, active, signIns, ends, tested };
  });
  return await Promise.all(shown);
}

const mostRefusedShown = 20;

/** What networks would have done to last week's sign-ins of a customer. Whoever has left it is called as the event called them. */
async function rehearse(desk: DeskVisit, { id, key }: Customer, networks: readonly string[]): Promise<Rehearsal> {
  const { by, actor } = desk;
  const [row] = await largeRead(
    desk,
    (sql) => sql<[Omit<Rehearsal, 'networks'>]>`
      with sign_in as (
        select user_id, username, address, ${admits(sql, sql`${networks}::text[]::cidr[]`, sql`address`)} as is_admitted
        from audit_event
        where event = 'signed-in' and at >= ${new Date(by.now.getTime() - week)}
          and ${key} = any(string_to_array(customer_key, ', '))
      ),
      refused as (
        select user_id, max(username) as username, address, count(*) as count
        from sign_in where not is_admitted group by user_id, address order by count(*) desc, max(username) limit ${mostRefusedShown}
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
  return { networks: networks.join(' '), ...row };
}
