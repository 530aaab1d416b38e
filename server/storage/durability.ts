import type { Connection } from './database.ts';

/** PostgreSQL's settings that say when a change is acknowledged. */
export type Durability = {
  fsync: boolean;
  fullPageWrites: boolean;
  synchronousCommit: string;
  /** Empty if no standby is waited for. */
  synchronousStandbys: string;
};

export async function findDurability(sql: Connection): Promise<Durability> {
  const [row] = await sql<[Durability]>`
    select current_setting('fsync')::boolean as fsync, current_setting('full_page_writes')::boolean as "fullPageWrites",
      current_setting('synchronous_commit') as "synchronousCommit",
      current_setting('synchronous_standby_names') as "synchronousStandbys"`;
  return row;
}
