import type { Config } from '../config/config.ts';
import type { Keys } from '../secrets/keys.ts';
import { keysOf, secretsOfDataFolder } from '../secrets/server-secret.ts';
import type { Database } from '../storage/database.ts';
import { withDatabase } from './with-database.ts';

/** For commands that seal or open secrets. */
export type Keyed = { sql: Database; config: Config; keys: Keys; now: () => Date };

/** Runs a command on the database, with the server's keys. */
export async function withKeys<T>(work: (keyed: Keyed) => Promise<T>): Promise<T> {
  return await withDatabase(async (sql, config) => {
    const secrets = config.secrets ?? (await secretsOfDataFolder(config.dataFolder));
    return await work({ sql, config, keys: keysOf(secrets), now: () => new Date() });
  });
}
