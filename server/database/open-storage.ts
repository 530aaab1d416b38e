import type { Config } from '../config/config.ts';
import { connect } from './connect.ts';
import type { Database } from './database.ts';
import { openEmbedded } from './embedded/embedded.ts';

/** An open database; closing it releases connections and stops the built-in one if nobody else uses it. */
export type Storage = { sql: Database; close: () => Promise<void> };

/** Opens the configured database: the server of DATABASE_URL, else the built-in PostgreSQL of the data folder. */
export async function openStorage(
  { databaseUrl, dataFolder }: Pick<Config, 'databaseUrl' | 'dataFolder'>,
  log: { info(text: string): void; warn(text: string): void },
): Promise<Storage> {
  const embedded = databaseUrl ? null : await openEmbedded({ dataFolder, log });
  const sql = connect(embedded?.place ?? { url: databaseUrl as string }, { onNotice: log.warn });
  async function close() {
    await sql.end();
    await embedded?.close();
  }
  return { sql, close };
}
