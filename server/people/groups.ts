import type { Connection, Fragment } from '../database/database.ts';
import { type Reading, readDisplayName } from '../names/read-name.ts';

// Two customers may both have `admins`. A group is therefore written with its customer's key, `acme:admins`, wherever it
// leaves its membership, and nobody who speaks for one customer can name a group of another.

/** As many of a membership are kept: more than providers usually send, and no list locks anybody out. */
export const mostGroups = 200;

/** Where one group ends and the next begins in a list: names may have spaces and commas, as in `CN=Staff,OU=Groups`. */
const betweenGroups = /(?<![\s,;])[\s,;]+(?=[a-z0-9][a-z0-9-]{0,62}:)/;

/** The groups of a list such as `acme:finance acme:Domain Users`. */
export function splitGroups(text: string): string[] {
  return text.trim().split(betweenGroups);
}

/** Reads the name of one group; not one that reads like two in a list, of which the second may be another customer's. */
export function readGroupName(text: string): Reading {
  const reading = readDisplayName(text);
  if (reading.kind === 'refused' || !betweenGroups.test(reading.value)) return reading;
  return { kind: 'refused', problem: `groups: ${JSON.stringify(reading.value.slice(0, 100))} reads like two` };
}

/** Reads groups such as `acme:finance`, sorted. */
export function readGroups(texts: readonly unknown[]): Reading<string[]> {
  const groups = new Set<string>();
  for (const value of texts) {
    const text = typeof value === 'string' ? value : '';
    const [, key, rest = ''] = /^\s*([a-z0-9][a-z0-9-]{0,62}):(.*)$/s.exec(text) ?? [];
    const name = readGroupName(rest);
    const problem = `groups: ${JSON.stringify(text.slice(0, 100))} is not like acme:finance, with the key of the customer`;
    if (key === undefined || name.kind === 'refused') return { kind: 'refused', problem };
    groups.add(`${key}:${name.value}`);
  }
  if (groups.size <= mostGroups) return { kind: 'ok', value: [...groups].sort() };
  return { kind: 'refused', problem: `groups: must not be more than ${mostGroups}` };
}

/** Whether a group's customer is one of these. */
export function isWithin(group: string, customers: readonly string[]): boolean {
  return customers.includes(group.slice(0, group.indexOf(':')));
}

/** The names within the customer `c` of groups, an array. */
export function namesWithin(sql: Connection, groups: Fragment): Fragment {
  return sql`array(
    select distinct substr(text, length(c.key) + 2) from unnest(${groups}) as given (text)
    where starts_with(text, c.key || ':') order by 1)`;
}

/** Columns: the keys of the customers of the user `u`, and the groups there. */
export function membershipsOf(sql: Connection): Fragment {
  return sql`
    array(
      select c.key from membership m join customer c on c.id = m.customer_id where m.user_id = u.id order by c.key
    ) as customers,
    array(
      select c.key || ':' || own.name
      from membership m join customer c on c.id = m.customer_id, unnest(m.groups) as own (name)
      where m.user_id = u.id order by (c.key || ':' || own.name) collate "C"
    ) as groups`;
}

/** Gives a user groups by their names within one customer. */
export async function updateGroupsAt(
  sql: Connection,
  { userId, customerId }: { userId: string; customerId: string },
  names: readonly string[],
): Promise<void> {
  await sql`
    update membership set groups = ${names as string[]}::text[]
    where user_id = ${userId} and customer_id = ${customerId} and groups <> ${names as string[]}::text[]`;
}
