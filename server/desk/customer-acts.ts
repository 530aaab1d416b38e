import { type CustomerPolicy, customerPolicies, type DeskViewOf, deskFields } from '#contract/desk.ts';
import { changeCustomer } from '../accounts/customers.ts';
import { addInvitedUser } from '../accounts/invite-users.ts';
import type { Database } from '../database/database.ts';
import { limits } from '../limits.ts';
import { readNetwork } from '../names/network.ts';
import { readDisplayName, readEmail, readShortName, readUsername } from '../names/read-name.ts';
import type { Customer, CustomerChanges } from '../people/customer.ts';
import { readGroups } from '../people/groups.ts';
import { changeConnection } from '../single-sign-on/change-connection.ts';
import { findSsoConnectionByKey } from '../single-sign-on/sso-connection.ts';
import { countAttempt } from '../throttle/throttle.ts';
import { type Act, accepted, done, type Fields, Refused } from './desk-page.ts';
import type { DeskVisit } from './desk-visit.ts';

type CustomerAct = Act<Customer>;

/** Makes somebody a person of the customer, and mails them the link to a first password. */
const invite: CustomerAct = async ({ keys }, { desk }, { key }, fields) => {
  const { email = '', username, name, groupNames = '' } = fields;
  const user = {
    email: accepted(readEmail(email), 'email'),
    username: accepted(readUsername(username || email), 'email'),
    name: name ? accepted(readDisplayName(name), 'name') : null,
    groups: accepted(readGroups(linesOf(groupNames).map((group) => `${key}:${group}`)), 'groupNames'),
    customers: [key],
    ...{ passwordHash: null, active: true, mayChangePassword: true, language: null },
  };
  return done(await addInvitedUser(desk.sql, keys, user, desk.by));
};

/** Networks are saved once these very ones were rehearsed. */
const networks: CustomerAct = async (_deps, { desk }, { key }, fields) => {
  const allowedNetworks = typedNetworks(fields);
  if (fields.rehearsed !== allowedNetworks.join(' ')) return 'look';
  return await change(desk, key, { allowedNetworks }, fields);
};

/** The networks of a form, one a line. */
export function typedNetworks({ networks = '' }: Fields): string[] {
  return [...new Set(linesOf(networks).map((line) => accepted(readNetwork(line), 'networks')))];
}

/** What may be set, as it is: whether there is a customer at all is the operators' to say. */
export function policiesOf(customer: Customer, { actor }: DeskVisit): DeskViewOf<'customer'>['policies'] {
  const names = Object.keys(customerPolicies) as CustomerPolicy[];
  return names.flatMap((name) => {
    if (name === 'active' && actor.role !== 'operator') return [];
    const value = customer[name];
    return { name, value: value === true ? 'on' : value === false ? 'off' : value };
  });
}

const policies: CustomerAct = async (_deps, { desk }, customer, fields) => {
  const changes = policiesOf(customer, desk).map(({ name }) => {
    const value = (customerPolicies[name] as readonly string[]).find((value) => value === fields[name]);
    if (value === undefined) throw new Refused('entryRefused', 'policy');
    return [name, typeof customer[name] === 'boolean' ? value === 'on' : value];
  });
  const name = accepted(readDisplayName(fields.name ?? ''), 'name');
  return await change(desk, customer.key, { name, ...Object.fromEntries(changes) }, fields);
};

async function change({ sql, by }: DeskVisit, key: string, changes: CustomerChanges, fields: Fields) {
  return done(await changeCustomer(sql, key, changes, { ...by, seen: fields[deskFields.seen] ?? '' }));
}

/** Turns a connection on or off. What would leave people without any way in is for whoever runs the server. */
const connection: CustomerAct = async ({ keys }, { desk: { sql, by } }, customer, fields) => {
  const key = await ownConnection(sql, customer, fields);
  return done(await changeConnection({ sql, keys }, key, { active: fields.active === 'on' }, by));
};

/** The page shows what the test finds. Each costs the provider some requests. */
const testConnection: CustomerAct = async ({ now }, { desk: { sql, actor } }, customer, fields) => {
  await ownConnection(sql, customer, fields);
  const key = { key: `connection-test:${actor.userId}`, limit: limits.throttle.costly };
  if (await countAttempt(sql, [key], now())) throw new Refused('tooManyAttempts');
  return 'look';
};

/** The key of the connection that a form is about, which has to be the customer's. */
async function ownConnection(sql: Database, { id }: Customer, { connection = '' }: Fields): Promise<string> {
  const found = readShortName(connection).kind === 'ok' ? await findSsoConnectionByKey(sql, connection) : null;
  if (found?.customerId !== id) throw new Refused('foreign');
  return found.key;
}

const linesOf = (text: string) =>
  text
    .split(/[\r\n,;]+/)
    .map((line) => line.trim())
    .filter(Boolean);

export const customerActs = { invite, networks, policies, connection, testConnection };
