import type { Connection, Fragment } from '../database/database.ts';

/** A condition: a customer's networks (its column) admit an address; without any, every address (decisions §7). */
export function admits(sql: Connection, networks: Fragment, address: string | Fragment) {
  return sql`(${networks} = '{}' or ${address}::inet <<= any(${networks}))`;
}
