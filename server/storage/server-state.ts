import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import postgres from 'postgres';
import { limits } from '../limits.ts';
import { databaseSocket, type Where } from './database-socket.ts';

/** What one of several servers says of itself. */
export type ServerState = { address: string } & Said;

type Said =
  | {
      role: 'primary';
      /** Counts the promotions that led to it. */
      timeline: number;
    }
  | { role: 'standby' }
  | { role: 'away'; problem: string };

/** Asks a server what it is. One that does not say so in time, at whatever step, is away. */
export async function stateOf(address: string): Promise<ServerState> {
  let socket: Socket | undefined;
  const sql = postgres(address, {
    max: 1,
    fetch_types: false,
    connection: { application_name: 'vestibule looks for the primary' },
    socket: (where: Where) => {
      socket = databaseSocket(where);
      return socket;
    },
  } as postgres.Options<Record<string, never>>);
  const over = new AbortController();
  const silent = { role: 'away', problem: 'does not answer' } as const;
  try {
    const inTime = pause(limits.serverMaySay, silent, { signal: over.signal }).catch(() => silent);
    return { address, ...(await Promise.race([ask(sql), inTime])) };
  } finally {
    over.abort();
    await sql.end({ timeout: 0 });
    socket?.destroy();
  }
}

async function ask(sql: postgres.Sql): Promise<Said> {
  try {
    const [row] = await sql<[{ timeline: number | null }]>`
      select case when not pg_is_in_recovery() and current_setting('transaction_read_only') = 'off'
        then ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int end as timeline`;
    return row.timeline === null ? { role: 'standby' } : { role: 'primary', timeline: row.timeline };
  } catch (error) {
    return { role: 'away', problem: (error as Error).message };
  }
}
