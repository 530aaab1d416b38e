import postgres from 'postgres';
import { limits } from '../limits.ts';
import { databaseSocket } from './database-socket.ts';

/** What one of several servers says of itself. */
export type ServerState = { address: string } & (
  | {
      role: 'primary';
      /** Counts the promotions that led to it. */
      timeline: number;
    }
  | { role: 'standby' }
  | { role: 'away'; problem: string }
);

/** Asks a server what it is. */
export async function stateOf(address: string): Promise<ServerState> {
  const options = {
    max: 1,
    connect_timeout: limits.serverMaySay / 1000,
    fetch_types: false,
    socket: databaseSocket,
    connection: { application_name: 'vestibule looks for the primary' },
  };
  const sql = postgres(address, options);
  try {
    const [row] = await sql<[{ timeline: number | null }]>`
      select case when not pg_is_in_recovery() and current_setting('transaction_read_only') = 'off'
        then ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int end as timeline`;
    return row.timeline === null ? { address, role: 'standby' } : { address, role: 'primary', timeline: row.timeline };
  } catch (error) {
    return { address, role: 'away', problem: (error as Error).message };
  } finally {
    await sql.end({ timeout: 0 });
  }
}
