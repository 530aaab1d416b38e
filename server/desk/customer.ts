import { accountFields } from '#contract/account.ts';
import {
  type CustomerPolicy,
  customerPolicies,
  type DeskViewOf,
  deskActs,
  type PeopleFilter,
  type PersonState,
  type PolicyValue,
} from '#contract/desk.ts';
import { newestActOn } from '../audit/audit-event.ts';
import type { Database } from '../database/database.ts';
import { patientRead } from '../database/large-tables.ts';
import type { Deps } from '../deps.ts';
import { readShortName } from '../names/read-name.ts';
import { type Customer, findCustomer } from '../people/customer.ts';
import { checkConnection } from '../single-sign-on/check-connection.ts';
import { expiryWarning } from '../single-sign-on/saml/provider-metadata.ts';
import { listSsoConnectionsOfCustomers, type SsoConnection } from '../single-sign-on/sso-connection.ts';
import { endsOf } from '../single-sign-on/sso-warnings.ts';
import { customerActs, customerFields, typedNetworks } from './customer-acts.ts';
import type { Asked, DeskPageRoom, Fields } from './desk-page.ts';
import type { DeskVisit } from './desk-visit.ts';
import { type Actor, mayAct } from './may-act.ts';
import { countPeople, hasWords, listPersonRows } from './person-rows.ts';
import { rehearse, week } from './rehearse.ts';

const peopleShown = 50;

/** A customer: their people, networks, policies and connections. */
export const customer: DeskPageRoom<Customer> = {
  path: '/customers/:key',
  find: findDeskCustomer,
  target: ({ key }) => ({ kind: 'customer', key }),
  kept: customerFields,
  acts: customerActs,
  view: async (deps, asked, found, fields) => {
    const { desk } = asked;
    const { key, name: displayName, active, allowedNetworks } = found;
    const target = { kind: 'customer', key } as const;
    return {
      name: 'customer',
      customerKey: key,
      displayName,
      active,
      policies: policiesOf(found, desk.actor),
      acts: deskActs.filter((act) => mayAct(desk.actor, act, target)),
      ...(await peopleOf(deps, asked, found)),
      networks: allowedNetworks,
      rehearsal: fields.networks === undefined ? null : await rehearse(desk, found, typedNetworks(fields)),
      connections: await connectionsOf(deps, desk, found, fields),
      seen: await newestActOn(desk.sql, { customerKey: key }),
    };
  },
};

/** The customer of an address, if they are there for whoever asks. */
export async function findDeskCustomer(_deps: Deps, { desk, params }: Asked): Promise<Customer | null> {
  const { key = '' } = params;
  if (readShortName(key).kind === 'refused') return null;
  return mayAct(desk.actor, 'seeCustomer', { kind: 'customer', key }) ? await findCustomer(desk.sql, key) : null;
}

/** What may be set, as it is: whether there is a customer at all is the operators' to say. */
function policiesOf(customer: Customer, { role }: Actor): View['policies'] {
  const names = Object.keys(customerPolicies) as CustomerPolicy[];
  return names
    .filter((name) => name !== 'active' || role === 'operator')
    .map((name) => ({ name, value: policyOf(customer[name]) }));
}

const policyOf = (value: boolean | PolicyValue): PolicyValue =>
  value === true ? 'on' : value === false ? 'off' : value;

type View = DeskViewOf<'customer'>;

/** By what the filter of the people is called; any other shows all. */
const statesOf: Partial<Record<string, PersonState['word'][]>> = {
  cannotSignIn: ['waits', 'noCustomer', 'inactive'],
  noFactor: ['noFactor'],
  invited: ['invited'],
  inactive: ['inactive'],
} satisfies Partial<Record<PeopleFilter, PersonState['word'][]>>;

async function peopleOf(deps: Deps, { desk, query }: Asked, { id }: Customer) {
  const { sql } = desk;
  const { person = '', state = '' } = query;
  const from = /^\d{1,7}$/.test(query.from ?? '') ? Number(query.from) : 0;
  const isOf = sql`exists (select from membership own where own.user_id = u.id and own.customer_id = ${id})`;
  const words = hasWords(desk, person);
  const where = words === null ? isOf : sql`${isOf} and ${words}`;
  const states = statesOf[state];
  const which = { where, ...(states && { states }) };
  const [people, total] = await Promise.all([
    listPersonRows(deps, desk, { ...which, order: sql`u.username, u.id`, limit: peopleShown, offset: from }),
    countPeople(deps, desk, which),
  ]);
  return { people, total, filter: { person, state, from } };
}

async function connectionsOf(deps: Deps, { sql, by }: DeskVisit, { id }: Customer, fields: Fields) {
  const connections = await listSsoConnectionsOfCustomers(sql, [id]);
  const signIns = await countSignIns(sql, connections, new Date(by.now.getTime() - week));
  const asked = fields[accountFields.action] === 'testConnection' ? fields.connection : null;
  const shown = connections.map(async (connection): Promise<View['connections'][number]> => {
    const { key, name, protocol, active } = connection;
    const ends = endsOf(connection).map(({ what, endsAt }) => {
      const left = endsAt.getTime() - by.now.getTime();
      const tone = left < 0 ? 'bad' : left <= expiryWarning ? 'warn' : null;
      return { what: what === 'certificate' ? what : 'secret', endsAt, tone } as const;
    });
    const tested = key === asked ? await checkConnection({ ...deps, sql }, connection) : null;
    return { key, name, protocol, active, signIns: signIns.get(key) ?? 0, ends, tested };
  });
  return await Promise.all(shown);
}

async function countSignIns(sql: Database, connections: readonly SsoConnection[], since: Date) {
  if (connections.length === 0) return new Map<string, number>();
  const keys = connections.map(({ key }) => key);
  const rows = await patientRead(
    sql,
    async (sql) =>
      await sql<{ connection: string; count: number }[]>`
      select connection, count(*) from audit_event
      where event = 'signed-in' and at >= ${since} and connection = any(${keys}) group by connection`,
  );
  return new Map(rows.map(({ connection, count }) => [connection, count]));
}
